import type { RoutingStore } from '@signalbox/storage'
import { faultOfPause, faultOfReader, faultOfStatistics } from '@signalbox/storage/faults'
import {
  mergeReaders,
  newerStatistics,
  type OfferPause,
  type OfferStatistics,
  type Reader,
  routingRetentionMs,
  statisticsKey,
} from '@signalbox/storage/routing'
import { setYoungest } from './bounded-map.ts'
import { makeSweeper } from './sweeper.ts'

/** Options of `memoryRouting`. */
export interface MemoryRoutingOptions {
  /** Rows of statistics, one per writer and offer. */
  readonly maxRows: number
  readonly maxPauses: number
  readonly maxConversations: number
}

/** A published value and its number in the order of publication. */
interface Sequenced<Value> {
  readonly value: Value
  readonly sequence: number
}

/** Routing state that the gateways of one process share. `memoryRouting({ … }).news({ writer: 'me' }, at)` */
export function memoryRouting({ maxRows, maxPauses, maxConversations }: MemoryRoutingOptions): RoutingStore {
  const statistics = new Map<string, Sequenced<OfferStatistics>>()
  const pauses = new Map<string, Sequenced<OfferPause>>()
  const conversations = new Map<string, readonly Reader[]>()
  const sweepStatistics = makeSweeper(statistics, ({ value }, at) => isOld(value, at))
  const sweepPauses = makeSweeper(pauses, ({ value }, at) => value.until <= at)
  const sweepConversations = makeSweeper(conversations, ([last], at) => !last || isCold(last, at))
  let lastSequence = 0

  return {
    publish(rows, at) {
      const fault = firstFault(rows, faultOfStatistics)
      if (fault) throw fault
      for (const row of rows) {
        sweepStatistics(at)
        const key = statisticsKey(row)
        const before = statistics.get(key)
        if (before && newerStatistics(before.value, row) === before.value) continue
        setYoungest(statistics, { key, row: { value: { ...row }, sequence: ++lastSequence }, max: maxRows })
      }
    },
    pause(added, at) {
      const fault = firstFault(added, faultOfPause)
      if (fault) throw fault
      for (const pause of added) {
        sweepPauses(at)
        const before = pauses.get(pause.offer)
        if (before && before.value.until >= pause.until) continue
        setYoungest(pauses, { key: pause.offer, row: { value: { ...pause }, sequence: ++lastSequence }, max: maxPauses })
      }
    },
    news({ writer, after }, at) {
      const known = sequenceOf(after, lastSequence)
      const since = <Value>(all: Map<string, Sequenced<Value>>, counts: (value: Value) => boolean): readonly Value[] =>
        [...all.values()].flatMap(({ value, sequence }) => (sequence > known && counts(value) ? [{ ...value }] : []))
      return {
        cursor: `${lastSequence}`,
        statistics: since(statistics, row => row.writer !== writer && !isOld(row, at)),
        pauses: since(pauses, ({ until }) => until > at),
      }
    },
    remember(notes, at) {
      const fault = firstFault(notes, faultOfReader)
      if (fault) throw fault
      for (const { key, ...reader } of notes) {
        sweepConversations(at)
        const row = mergeReaders(conversations.get(key) ?? [], [reader])
        setYoungest(conversations, { key, row, max: maxConversations })
      }
    },
    readers(key, at) {
      const readers = conversations.get(key) ?? []
      return readers.filter(reader => !isCold(reader, at)).map(reader => ({ ...reader }))
    },
  }
}

/** The first invalid row: either all rows are published or none. */
function firstFault<Row>(rows: readonly Row[], faultOf: (row: Row) => RangeError | undefined): RangeError | undefined {
  for (const row of rows) {
    const fault = faultOf(row)
    if (fault) return fault
  }
  return undefined
}

/** The number in a cursor; 0 if this store did not issue it. */
function sequenceOf(cursor: string | undefined, last: number): number {
  const sequence = Number(cursor ?? 0)
  return sequence >= 0 && sequence <= last ? sequence : 0
}

const isOld = ({ at: saidAt }: OfferStatistics, at: number): boolean => saidAt <= at - routingRetentionMs.statistics
const isCold = ({ at: readAt }: Reader, at: number): boolean => readAt <= at - routingRetentionMs.readers
