import type { CounterStore } from '@signalbox/storage'
import type { CounterRefusal, CounterRequest } from '@signalbox/storage/counters'
import { faultOfAdd, faultOfSlot, faultOfTake } from '@signalbox/storage/faults'
import type { Batches } from './batches.ts'
import { type KeyNames, tagOf } from './keys.ts'
import type { KnownCounts } from './known-counts.ts'
import type { ScriptReply } from './script.ts'

export interface RedisCountersOptions {
  readonly batches: Batches
  readonly names: KeyNames
  readonly known: KnownCounts
  /** Whether the keys of one call must be on one node. */
  readonly isCluster: boolean
  /** Called with each call that admits requests. */
  readonly onUse: () => void
}

/** Windows and slots in Redis. `await redisCounters({ … }).enter({ key, slot, limit: 8, ttlMs: 60_000 }, at)` */
export function redisCounters({ batches, names, known, isCluster, onUse }: RedisCountersOptions): CounterStore {
  const laneOf = (key: string): string => (isCluster ? tagOf(key) : '')
  return {
    take(requests, at) {
      const fault = faultOfTake(requests, at) ?? (isCluster ? faultOfTags(requests) : undefined)
      if (fault) return Promise.reject(fault)
      const [first] = requests
      if (!first) return undefined
      onUse()
      const keys = requests.map(({ key }) => names.counter(key))
      const args = requests.flatMap(({ amount, limit, windowMs }) => [amount, limit, windowMs])
      return batches
        .call(laneOf(first.key), { method: 'take', keys, args, at, count: requests.length })
        .then(reply => refusalOf(requests, reply, known))
    },
    async add(key, amount, at) {
      const fault = faultOfAdd(amount, at)
      if (fault) throw fault
      await batches.call(laneOf(key), { method: 'add', keys: [names.counter(key)], args: [amount], at })
      known.add(key, amount)
    },
    enter(request, at) {
      const fault = faultOfSlot(request, at)
      if (fault) return Promise.reject(fault)
      onUse()
      const { key, slot, limit, ttlMs } = request
      const call = { method: 'enter', keys: [names.slots(key)], args: [slot, limit, ttlMs], at } as const
      return batches.call(laneOf(key), call).then(reply => reply === 1)
    },
    async leave(key, slot) {
      await batches.call(laneOf(key), { method: 'leave', keys: [names.slots(key)], args: [slot], at: 0 })
    },
  }
}

/** A single script decides about all counters of a call, and a script runs on one node. */
function faultOfTags([first, ...others]: readonly CounterRequest[]): RangeError | undefined {
  const other = others.find(({ key }) => tagOf(key) !== tagOf(first?.key ?? ''))
  return (
    other &&
    new RangeError(
      `counters.take: \`${first?.key}\` and \`${other.key}\` may be on two nodes of the cluster, which cannot count them atomically. Use the same text before their first \`/\`.`,
    )
  )
}

/** Records the state of the counters. */
function refusalOf(requests: readonly CounterRequest[], reply: ScriptReply, known: KnownCounts): CounterRefusal | undefined {
  const [place, ...figures] = (reply as readonly (number | string)[]).map(Number)
  const refused = requests[Number(place) - 1]
  if (!refused) {
    for (const [index, { key }] of requests.entries()) known.note(key, figures[2 * index] ?? 0, figures[2 * index + 1] ?? 0)
    return undefined
  }
  const [retryAfterMs = 0, used = 0] = figures
  known.note(refused.key, used, retryAfterMs)
  return { key: refused.key, retryAfterMs }
}
