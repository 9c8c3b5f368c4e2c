import type { CounterStore } from '@signalbox/storage'
import type { CounterRefusal, CounterRequest, SlotRequest } from '@signalbox/storage/counters'
import { faultOfAdd, faultOfSlot, faultOfTake } from '@signalbox/storage/faults'
import type { PostgresConnection } from './connection.ts'
import { numberArray, textArray } from './parameters.ts'

interface Take {
  readonly requests: readonly CounterRequest[]
  readonly at: number
}
interface Correction {
  readonly key: string
  readonly amount: number
  readonly at: number
}
interface Entry {
  readonly request: SlotRequest
  readonly at: number
}
interface SlotName {
  readonly key: string
  readonly slot: string
}

/** Windows and slots in PostgreSQL. `await postgresCounters(connection).enter({ key, slot, limit: 8, ttlMs: 60_000 }, at)` */
export function postgresCounters(connection: PostgresConnection): CounterStore {
  const { isServerTime } = connection
  const take = connection.batched(takeVerb(isServerTime))
  const add = connection.batched(addVerb(isServerTime))
  const enter = connection.batched(enterVerb(isServerTime))
  const leave = connection.batched(leaveVerb)
  return {
    take(requests, at) {
      const fault = faultOfTake(requests, at)
      if (fault) return Promise.reject(fault)
      return requests.length === 0 ? Promise.resolve(undefined) : take({ requests: requests.map(request => ({ ...request })), at })
    },
    add(key, amount, at) {
      const fault = faultOfAdd(amount, at)
      return fault ? Promise.reject(fault) : add({ key, amount, at })
    },
    enter(request, at) {
      const fault = faultOfSlot(request, at)
      return fault ? Promise.reject(fault) : enter({ request: { ...request }, at })
    },
    leave: (key, slot) => leave({ key, slot }),
  }
}

/** Times of calls; null where the server's clock decides. `timesOf([{ at: 1 }], false)` */
export const timesOf = (calls: readonly { readonly at: number }[], isServerTime: boolean): string =>
  numberArray(calls.map(({ at }) => (isServerTime ? undefined : at)))

const takeVerb = (isServerTime: boolean) => ({
  verb: 'counters.take' as const,
  name: 'take',
  types: ['bigint[]', 'int[]', 'text[]', 'bigint[]', 'bigint[]', 'bigint[]'],
  toValues: (takes: readonly Take[]) => {
    const rows = takes.flatMap(({ requests }, index) => requests.map(request => ({ ...request, number: index + 1 })))
    return [
      timesOf(takes, isServerTime),
      numberArray(rows.map(({ number }) => number)),
      textArray(rows.map(({ key }) => key)),
      numberArray(rows.map(({ amount }) => amount)),
      numberArray(rows.map(({ limit }) => limit)),
      numberArray(rows.map(({ windowMs }) => windowMs)),
    ]
  },
  toAnswers: (answer: unknown, takes: readonly Take[]) => {
    const refusals: (CounterRefusal | undefined)[] = takes.map(() => undefined)
    const refused = typeof answer === 'string' ? (JSON.parse(answer) as readonly (readonly [number, string, number])[]) : []
    for (const [number, key, retryAfterMs] of refused) refusals[number - 1] = { key, retryAfterMs }
    return refusals
  },
})

const addVerb = (isServerTime: boolean) => ({
  verb: 'counters.add' as const,
  name: 'add',
  types: ['text[]', 'bigint[]', 'bigint[]'],
  toValues: (corrections: readonly Correction[]) => [
    textArray(corrections.map(({ key }) => key)),
    numberArray(corrections.map(({ amount }) => amount)),
    timesOf(corrections, isServerTime),
  ],
  toAnswers: (_: unknown, corrections: readonly Correction[]): readonly undefined[] => corrections.map(() => undefined),
})

const slotKey = (key: string, slot: string): string => `${key.length} ${key}${slot}`

const enterVerb = (isServerTime: boolean) => ({
  verb: 'counters.enter' as const,
  name: 'enter',
  types: ['text[]', 'text[]', 'bigint[]', 'bigint[]', 'bigint[]'],
  keyOf: ({ request: { key, slot } }: Entry) => slotKey(key, slot),
  toValues: (entries: readonly Entry[]) => [
    textArray(entries.map(({ request }) => request.key)),
    textArray(entries.map(({ request }) => request.slot)),
    numberArray(entries.map(({ request }) => request.limit)),
    numberArray(entries.map(({ request }) => request.ttlMs)),
    timesOf(entries, isServerTime),
  ],
  toAnswers: (answer: unknown, entries: readonly Entry[]): readonly boolean[] => {
    const refused = new Set<number>(typeof answer === 'string' ? JSON.parse(answer) : [])
    return entries.map((_, index) => !refused.has(index + 1))
  },
})

const leaveVerb = {
  verb: 'counters.leave' as const,
  name: 'leave',
  types: ['text[]', 'text[]'],
  toValues: (slots: readonly SlotName[]) => [textArray(slots.map(({ key }) => key)), textArray(slots.map(({ slot }) => slot))],
  toAnswers: (_: unknown, slots: readonly SlotName[]): readonly undefined[] => slots.map(() => undefined),
}
