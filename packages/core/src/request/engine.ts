import type { Credential } from '@signalbox/dialects/protocol'
import type { OutputPaces } from '../metering/hidden-tokens.ts'
import type { SettlementQueue } from '../metering/settlement-queue.ts'
import type { UsageDrains } from '../metering/usage-drains.ts'
import type { UsageNotices } from '../metering/usage-notices.ts'
import type { UpstreamEngine } from '../upstream/attempt.ts'
import type { Timeouts } from '../upstream/limits.ts'
import type { AdmitPorts } from './admission/admit.ts'
import type { Leases } from './admission/leases.ts'
import type { SelectionPorts } from './attempts/select-offers.ts'
import type { PreparePorts } from './prepare-request.ts'
import type { PipelinePorts } from './response/response-pipeline.ts'
import type { RoutingSync } from './routing-sync/routing-sync.ts'
import type { RunningRequest } from './running-requests.ts'
import type { Retention } from './settlement/retention.ts'

/** The parts of a gateway that run its requests. */
export interface Engine extends PreparePorts, AdmitPorts, SelectionPorts, UpstreamEngine, PipelinePorts {
  readonly timeouts: Timeouts
  /** Running requests. A closing gateway ends them through this set. */
  readonly running: Set<RunningRequest>
  readonly leases: Leases
  /** Undefined if routing state is not shared with other processes. */
  readonly sharing?: RoutingSync | undefined
  /** Responses that are read on for their usage after the client disconnected. */
  readonly drains: UsageDrains
  readonly settlements: SettlementQueue
  readonly retention: Retention
  readonly paces: OutputPaces
  readonly usageNotices: UsageNotices
  /** The share of recorded requests whose usage rows keep full routing evidence. */
  readonly storedShare: number
  /** Work after settlements, such as hooks and credit reloads. A closing gateway waits for it. */
  readonly pending: Set<Promise<void>>
  /** Called when a provider refuses a BYOK key, with the status of its response. */
  readonly onCredentialRefused?: ((workspaceId: string, credential: Credential, status: number | undefined) => void) | undefined
}
