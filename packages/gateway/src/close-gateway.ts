import type { Authenticator } from '@signalbox/core/access'
import type { SettlementQueue } from '@signalbox/core/metering'
import type { Engine, HoldCollector, RoutingSync } from '@signalbox/core/request'
import { endForShutdown } from '@signalbox/core/request'
import { sleep, waitAtMost } from '@signalbox/core/runtime'
import type { LazyByok } from '@signalbox/workspaces'

/** The parts of a gateway that have work to finish when it closes. */
export interface ClosingParts {
  readonly ports: Engine
  readonly collector: HoldCollector
  readonly settlements: SettlementQueue
  readonly byok: LazyByok
  readonly authenticator: Authenticator
  readonly sharing: RoutingSync | undefined
}

/** Milliseconds that each part may take to finish. */
const maxWaitMs = 10_000

/** Gives running requests `graceMs` to end, cancels the rest, finishes pending work, and closes the storage. */
export async function closeGateway(parts: ClosingParts, graceMs: number): Promise<void> {
  const { ports, collector, settlements, byok, authenticator, sharing } = parts
  const { running, clock } = ports
  await untilEmpty(ports, graceMs)
  endForShutdown(running)
  ports.drains.stop()
  // Cancelled requests still have to be settled and send their errors.
  await untilEmpty(ports, 2_000)
  await waitAtMost(maxWaitMs, Promise.allSettled([...running].map(({ control }) => control?.leave())), clock)
  await waitAtMost(maxWaitMs, Promise.allSettled(ports.pending), clock)
  await waitAtMost(maxWaitMs, collector.close(), clock)
  await settlements.close()
  await byok.close()
  await waitAtMost(maxWaitMs, ports.retention.flush(), clock)
  await waitAtMost(maxWaitMs, Promise.allSettled([authenticator.flush(), ports.refusals.flush()]), clock)
  await waitAtMost(maxWaitMs, sharing?.close(), clock)
  await waitAtMost(maxWaitMs, ports.storage.close(), clock)
}

const lookMs = 20

/** Waits until no request is running or the time has passed, by the clock or by the waits: the clock of Workers may stand still. */
async function untilEmpty({ running, clock }: Engine, milliseconds: number): Promise<void> {
  const until = clock.monotonic() + milliseconds
  for (let waited = 0; running.size > 0 && waited < milliseconds && clock.monotonic() < until; waited += lookMs) await sleep(clock, lookMs)
}
