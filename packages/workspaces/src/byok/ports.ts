import type { Records, Vault } from '@signalbox/core/access'
import type { Clock, Logger } from '@signalbox/core/runtime'
import type { AccountTier, Provider, Transport } from '@signalbox/dialects/protocol'
import type { CommitWithAudit } from '../change.ts'

export interface ByokSetting {
  readonly vault: Vault
  readonly records: Records
  readonly commitWithAudit: CommitWithAudit
  readonly providers: ReadonlyMap<string, Provider>
  readonly tiersOf: (provider: string) => readonly AccountTier[]
  /** Whether sealed keys can be opened after a restart. */
  readonly lasting: boolean
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
}

export interface ByokPorts extends ByokSetting {
  readonly inBackground: (trouble: string, run: () => Promise<unknown>) => void
  /** Aborted when the gateway has waited long enough for background work to end. */
  readonly signal: () => AbortSignal
}
