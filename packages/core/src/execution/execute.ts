import type { Ending } from '../runtime/ending.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Won } from './call.ts'
import { ask, begin, type Executing, nextTurn, waitBefore } from './journey.ts'
import { allFailed } from './told.ts'

/** One candidate after the other until one commits. Throws the GatewayError that ends the request when none does. */
export async function execute(executing: Executing): Promise<Won> {
  const { clock, limits, ending, excluded } = executing
  const journey = begin(executing)
  for (let turn = nextTurn(journey); turn; turn = nextTurn(journey)) {
    const waitMs = waitBefore(journey, turn)
    if (waitMs === undefined) continue
    if (waitMs > 0) await pause(clock, waitMs, ending)
    const won = await ask(journey, turn)
    if (won) return won
  }
  const { failures, full, stopped } = journey
  if (stopped) throw allFailed(failures, { told: stopped })
  if (ending.why) throw allFailed([{ kind: ending.why, message: '' }])
  throw allFailed(failures.length > 0 ? failures : full, { deadlineOver: limits.deadlineAt <= clock.monotonic(), excluded })
}

function pause(clock: Clock, milliseconds: number, ending: Ending): Promise<void> {
  return new Promise(resolve => {
    const timer = clock.setTimeout(() => {
      stop()
      resolve()
    }, milliseconds)
    const stop = ending.onEnd(() => {
      clock.clearTimeout(timer)
      resolve()
    })
  })
}
