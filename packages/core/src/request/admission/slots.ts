import type { Awaitable, CounterStore } from '@signalbox/storage'
import { allSettled, isPromise } from '@signalbox/storage/awaitable'
import type { Caller } from '../../access/caller.ts'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import { GatewayError, storeDown } from '../../errors/gateway-error.ts'
import { runSteps, type Step, wait } from '../../runtime/steps.ts'
import type { Limits } from '../../upstream/limits.ts'
import { type Rate, takeRates } from './rate-limits.ts'

/** A slot among the concurrent requests of a key, and of its workspace if that is limited. */
export interface SlotKey {
  readonly key: string
  readonly limit: number
}

export interface Slot extends SlotKey {
  readonly refused: () => GatewayError
}

/** Milliseconds of a slot's lease: renewed while the request runs, and free soon after a crash. */
export const slotMs = 90_000

export function slotsOf(
  { keyId, workspaceId, isEndUser, limits: own, ancestors = [] }: Caller,
  { workspace }: WorkspacePolicy,
  limits: Limits,
): readonly Slot[] {
  const slots = [
    slotOf(isEndUser ? 'This user' : 'This key', `${workspaceId}/slots:${keyId}`, own?.concurrentRequests ?? limits.concurrentRequests),
  ]
  for (const above of ancestors)
    if (above.limits?.concurrentRequests !== undefined)
      slots.push(
        slotOf(
          isEndUser ? workspaceOfUser : 'A key above this one',
          `${workspaceId}/slots:${above.keyId}`,
          above.limits.concurrentRequests,
        ),
      )
  const shared = workspace.body.limits?.concurrentRequests ?? limits.workspace?.concurrentRequests
  if (shared !== undefined) slots.push(slotOf(isEndUser ? workspaceOfUser : 'This workspace', `${workspaceId}/slots`, shared))
  return slots
}

/** The limit of a workspace is not shown to end users. */
const workspaceOfUser = 'The workspace of this user'

const slotOf = (whose: string, key: string, limit: number): Slot => ({
  key,
  limit,
  refused: () =>
    new GatewayError('concurrent_requests_exceeded', {
      message: `${whose} has reached its limit of ${whose === workspaceOfUser ? '' : `${limit} `}concurrent requests. Wait for one to finish.`,
      limitedBy: 'routing',
      retryAfterMs: 1_000,
    }),
})

export interface SlotRequests {
  readonly rates: readonly Rate[]
  readonly slots: readonly Slot[]
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
}

export interface SlotResults {
  readonly counted: PromiseSettledResult<unknown>
  /** For each room, in the same order: whether there was a place. */
  readonly entered: readonly PromiseSettledResult<unknown>[]
}

/** Counts against the rate limits and takes the slots, in one batch of the store. */
export function* takeTogether({ rates, slots, requestId, at }: SlotRequests, counters: CounterStore): Step<SlotResults> {
  const count = (): Awaitable<unknown> => runSteps(takeRates(rates, counters, at))
  const enter = slots.map(
    ({ key, limit }) =>
      (): Awaitable<unknown> =>
        counters.enter({ key, slot: requestId, limit, ttlMs: slotMs }, at),
  )
  const taking = allSettled([count, ...enter])
  try {
    const [counted, ...entered] = yield* wait(taking)
    return { counted: counted as PromiseSettledResult<unknown>, entered }
  } catch (error) {
    // Interrupted. A slot may be taken already, or may still be taken by a pending call.
    const leave = (): Awaitable<unknown> => allSettled(leaveSlots(slots, requestId, counters))
    void leave()
    if (isPromise(taking)) void taking.then(leave)
    throw error
  }
}

/** Throws for the first slot that was full, else for the rate limit. */
export function throwRefusals({ slots, counted, entered }: SlotResults & Pick<SlotRequests, 'slots'>): void {
  entered.forEach((room, place) => {
    if (room.status === 'rejected') throw storeDown(room.reason)
    if (!room.value) throw slots[place]?.refused()
  })
  if (counted.status === 'rejected') throw counted.reason
}

/** Calls that free the slots, whether or not they were taken. */
export const leaveSlots = (slots: readonly SlotKey[], requestId: string, counters: CounterStore): (() => Awaitable<unknown>)[] =>
  slots.map(
    ({ key }) =>
      () =>
        counters.leave(key, requestId),
  )
