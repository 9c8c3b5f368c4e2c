import type { RoutingStore } from '@signalbox/storage'
import { faultOfPause, faultOfReader, faultOfStatistics } from '@signalbox/storage/faults'
import {
  maxReaders,
  mergeReaders,
  mergeStatistics,
  type OfferPause,
  type OfferStatistics,
  type Reader,
  routingRetentionMs,
  statisticsKey,
} from '@signalbox/storage/routing'
import type { Batches } from './batches.ts'
import { type KeyNames, readersTag } from './keys.ts'
import type { ScriptReply } from './script.ts'

export interface RedisRoutingOptions {
  readonly batches: Batches
  readonly names: KeyNames
  readonly isCluster: boolean
  /** A random id for a new sequence. */
  readonly newId: () => string
}

/** Maximum statistics and pauses; the ones that changed longest ago are dropped first. */
const maxEntries = 30_000
/** Entries per script call. */
const entriesPerCall = 200

/** A value of the routing state. Of two with the same name, the one with the higher rank counts. */
interface RoutingEntry {
  readonly name: string
  readonly rank: readonly [number, number]
  /** Expiry in Unix milliseconds. */
  readonly endsAt: number
  readonly value: OfferStatistics | OfferPause
}

const statisticsEntry = (row: OfferStatistics): RoutingEntry => ({
  name: `statistics ${statisticsKey(row)}`,
  rank: [row.epoch, row.version],
  endsAt: row.at + routingRetentionMs.statistics,
  value: row,
})
const pauseEntry = (pause: OfferPause): RoutingEntry => ({
  name: `pause ${pause.offer}`,
  rank: [pause.until, 0],
  endsAt: pause.until,
  value: pause,
})

/** Routing state in Redis. `await redisRouting({ … }).news({ writer: 'me' }, Date.now())` */
export function redisRouting({ batches, names, isCluster, newId }: RedisRoutingOptions): RoutingStore {
  const publish = async (entries: readonly RoutingEntry[], at: number): Promise<void> => {
    const calls: Promise<unknown>[] = []
    for (let from = 0; from < entries.length; from += entriesPerCall) {
      const some = entries.slice(from, from + entriesPerCall)
      const keepMs = Math.max(routingRetentionMs.statistics, ...some.map(({ endsAt }) => endsAt - at))
      const args = [
        maxEntries,
        newId(),
        keepMs,
        ...some.flatMap(({ name, rank, endsAt, value }) => [name, ...rank, endsAt, JSON.stringify(value)]),
      ]
      calls.push(batches.call(isCluster ? '_' : '', { method: 'publish', keys: names.routing, args, at, count: some.length }))
    }
    await Promise.all(calls)
  }
  return {
    async publish(rows, at) {
      throwFirstFault(rows, faultOfStatistics)
      await publish(rows.map(statisticsEntry), at)
    },
    async pause(pauses, at) {
      throwFirstFault(pauses, faultOfPause)
      await publish(pauses.map(pauseEntry), at)
    },
    async news({ writer, after = '' }, at) {
      const [id = '', place = ''] = after.split(' ')
      const reply = await batches.call(isCluster ? '_' : '', { method: 'news', keys: names.routing, args: [id, place], at })
      const [newId, last, ...entries] = reply as readonly string[]
      const values = entries.flatMap(entry => entryValue(entry, at))
      return {
        cursor: `${newId} ${last}`,
        statistics: mergeStatistics(values.filter(isStatistics), []).filter(row => row.writer !== writer),
        pauses: values.filter(isPause),
      }
    },
    async remember(notes, at) {
      throwFirstFault(notes, faultOfReader)
      await Promise.all(
        notes.map(({ key, offer, tokens, at: readAt }) => {
          const args = [maxReaders, routingRetentionMs.readers, offer, tokens, readAt]
          return batches.call(isCluster ? readersTag(key) : '', { method: 'remember', keys: [names.readers(key)], args, at })
        }),
      )
    },
    async readers(key, at) {
      const reply = await batches.call(isCluster ? readersTag(key) : '', { method: 'readers', keys: [names.readers(key)], args: [], at })
      return mergeReaders(readersIn(reply), []).filter(reader => reader.at > at - routingRetentionMs.readers)
    },
  }
}

function throwFirstFault<Row>(rows: readonly Row[], faultOf: (row: Row) => RangeError | undefined): void {
  for (const row of rows) {
    const fault = faultOf(row)
    if (fault) throw fault
  }
}

/** The value of an entry as the script stores it: two ranks, expiry and JSON. Empty if it has expired. */
function entryValue(entry: string, at: number): readonly (OfferStatistics | OfferPause)[] {
  const [, endsAt, json] = /^-?\d+ -?\d+ (-?\d+) (.*)$/s.exec(entry) ?? []
  return json !== undefined && Number(endsAt) > at ? [JSON.parse(json)] : []
}

const isPause = (value: OfferStatistics | OfferPause): value is OfferPause => 'until' in value
const isStatistics = (value: OfferStatistics | OfferPause): value is OfferStatistics => !isPause(value)

function readersIn(reply: ScriptReply): readonly Reader[] {
  const flat = reply as readonly string[]
  return flat.flatMap((offer, place): readonly Reader[] => {
    if (place % 2 === 1) return []
    const [tokens, at] = (flat[place + 1] ?? '').split(' ').map(Number)
    return tokens === undefined || at === undefined ? [] : [{ offer, tokens, at }]
  })
}
