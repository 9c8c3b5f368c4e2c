import {
  faultOfPause,
  faultOfReader,
  faultOfStatistics,
  mergeReaders,
  newerStatistics,
  type OfferPause,
  type OfferStatistics,
  type Reader,
  type RoutingStore,
  routingKeptMs,
  statisticsKey,
} from '@signalbox/storage'
import { setYoungest } from './bounded.ts'
import { makeSweeper } from './sweeper.ts'

export interface MemoryRoutingOptions {
  /** Rows of statistics, a writer's offer each. */
  readonly maxRows: number
  readonly maxPauses: number
  readonly maxConversations: number
}

/** Something that was said, and its place in the order of saying. */
interface Said<Word> {
  readonly word: Word
  readonly place: number
}

/** What gateways of one process tell each other of routing. `memoryRouting({ … }).news({ writer: 'me' }, at)` */
export function memoryRouting({ maxRows, maxPauses, maxConversations }: MemoryRoutingOptions): RoutingStore {
  const statistics = new Map<string, Said<OfferStatistics>>()
  const pauses = new Map<string, Said<OfferPause>>()
  const conversations = new Map<string, readonly Reader[]>()
  const sweepStatistics = makeSweeper(statistics, ({ word }, at) => isOld(word, at))
  const sweepPauses = makeSweeper(pauses, ({ word }, at) => word.until <= at)
  const sweepConversations = makeSweeper(conversations, ([last], at) => !last || isCold(last, at))
  let places = 0

  return {
    publish(rows, at) {
      const fault = firstFault(rows, faultOfStatistics)
      if (fault) throw fault
      for (const row of rows) {
        sweepStatistics(at)
        const key = statisticsKey(row)
        const before = statistics.get(key)
        if (before && newerStatistics(before.word, row) === before.word) continue
        setYoungest(statistics, { key, row: { word: { ...row }, place: ++places }, most: maxRows })
      }
    },
    pause(asked, at) {
      const fault = firstFault(asked, faultOfPause)
      if (fault) throw fault
      for (const pause of asked) {
        sweepPauses(at)
        const before = pauses.get(pause.offer)
        if (before && before.word.until >= pause.until) continue
        setYoungest(pauses, { key: pause.offer, row: { word: { ...pause }, place: ++places }, most: maxPauses })
      }
    },
    news({ writer, after }, at) {
      const known = placeOf(after, places)
      const since = <Word>(all: Map<string, Said<Word>>, counts: (word: Word) => boolean): readonly Word[] =>
        [...all.values()].flatMap(({ word, place }) => (place > known && counts(word) ? [{ ...word }] : []))
      return {
        cursor: `${places}`,
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
        setYoungest(conversations, { key, row, most: maxConversations })
      }
    },
    readers(key, at) {
      const readers = conversations.get(key) ?? []
      return readers.filter(reader => !isCold(reader, at)).map(reader => ({ ...reader }))
    },
  }
}

/** All or nothing: one bad row leaves the others unsaid too. */
function firstFault<Row>(rows: readonly Row[], faultOf: (row: Row) => RangeError | undefined): RangeError | undefined {
  for (const row of rows) {
    const fault = faultOf(row)
    if (fault) return fault
  }
  return undefined
}

/** A cursor that did not come from here knows nothing. */
function placeOf(cursor: string | undefined, last: number): number {
  const place = Number(cursor ?? 0)
  return place >= 0 && place <= last ? place : 0
}

const isOld = ({ at: saidAt }: OfferStatistics, at: number): boolean => saidAt <= at - routingKeptMs.statistics
const isCold = ({ at: readAt }: Reader, at: number): boolean => readAt <= at - routingKeptMs.readers
