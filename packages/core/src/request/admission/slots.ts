import { GatewayError } from '@signalbox/dialects/errors'
import type { Awaitable, CounterStore } from '@signalbox/storage'
import { allSettled, isPromise } from '@signalbox/storage/awaitable'
import type { Caller } from '../../access/caller.ts'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { storeDown } from '../../runtime/store-down.ts'
import type { Limits } from '../../upstream/limits.ts'
import { type Rate, takeRates } from './rate-limits.ts'

/** A concurrency slot of a key, or of its workspace if that is limited. */
export interface SlotKey {
  readonly key: string
  readonly limit: number
}

export interface Slot extends SlotKey {
  /** The subject of the limit in its message. */
  readonly whose: string
}

/** Lease of a slot in milliseconds: renewed while the request runs, so that the slot is free soon after a crash. */
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

const slotOf = (whose: string, key: string, limit: number): Slot => ({ key, limit, whose })

const slotError = ({ whose, limit }: Slot): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `${whose} has reached its limit of ${whose === workspaceOfUser ? '' : `${limit} `}concurrent requests. Wait for one to finish.`,
    limitedBy: 'routing',
    retryAfterMs: 1_000,
  })

export interface SlotRequests {
  readonly rates: readonly Rate[]
  readonly slots: readonly Slot[]
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
}

/** The counted rates (`Rate[]`), then for each slot, in the same order, whether it was free. */
export type SlotResults = readonly PromiseSettledResult<unknown>[]

/** Counts against the rate limits and takes the slots in one batch of store calls. */
export function* takeTogether({ rates, slots, requestId, at }: SlotRequests, counters: CounterStore): Step<SlotResults> {
  const calls: (() => Awaitable<unknown>)[] = [() => takeRates(rates, counters, at)]
  for (const { key, limit } of slots) calls.push(() => counters.enter({ key, slot: requestId, limit, ttlMs: slotMs }, at))
  const taking = allSettled(calls)
  try {
    return yield* wait(taking)
  } catch (error) {
    // Interrupted. A slot may be taken already, or may still be taken by a pending call.
    const leave = (): Awaitable<unknown> => allSettled(leaveSlots(slots, requestId, counters))
    void leave()
    if (isPromise(taking)) void taking.then(leave)
    throw error
  }
}

/** Throws if a slot was not free, otherwise if a rate limit was exceeded. */
export function throwRefusals([counted, ...entered]: SlotResults, slots: readonly Slot[]): void {
  slots.forEach((slot, place) => {
    const room = entered[place]
    if (room?.status === 'rejected') throw storeDown(room.reason)
    if (!room?.value) throw slotError(slot)
  })
  if (counted?.status === 'rejected') throw counted.reason
}

/** Returns calls that release the slots, whether or not they were taken. */
export const leaveSlots = (slots: readonly SlotKey[], requestId: string, counters: CounterStore): (() => Awaitable<unknown>)[] =>
  slots.map(
    ({ key }) =>
      () =>
        counters.leave(key, requestId),
  )
