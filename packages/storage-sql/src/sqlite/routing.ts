import type { RoutingStore } from '@signalbox/storage'
import { faultOfPause, faultOfReader, faultOfStatistics } from '@signalbox/storage/faults'
import {
  maxReaders,
  type OfferPause,
  type OfferStatistics,
  type Reader,
  type ReaderNote,
  routingRetentionMs,
} from '@signalbox/storage/routing'
import type { Connection } from './connection.ts'
import { command, query, type Row, statement, type Verb } from './verb.ts'

/** Old rows removed by one call. */
const FORGOTTEN_ROWS = 128

/** Routing state that processes share, in SQLite. `await sqliteRouting(connection).news({ writer: 'me' }, at)` */
export function sqliteRouting({ read, write }: Pick<Connection, 'read' | 'write'>): RoutingStore {
  return {
    publish(rows, at) {
      const fault = firstFault(rows, faultOfStatistics)
      return fault ? Promise.reject(fault) : write(publishVerb(rows, at))
    },
    pause(pauses, at) {
      const fault = firstFault(pauses, faultOfPause)
      return fault ? Promise.reject(fault) : write(pauseVerb(pauses, at))
    },
    news: ({ writer, after }, at) =>
      read({
        statements: [
          statement('SELECT seq FROM routing_sequence'),
          statement(NEW_STATISTICS, writer, cursorOf(after), at - routingRetentionMs.statistics),
          statement(NEW_PAUSES, cursorOf(after), at),
        ],
        answer: ([sequence, statistics = [], pauses = []]) => ({
          cursor: String(sequence?.[0]?.seq ?? 0),
          statistics: statistics.map(toStatistics),
          pauses: pauses as unknown as readonly OfferPause[],
        }),
      }),
    remember(notes, at) {
      const fault = firstFault(notes, faultOfReader)
      return fault ? Promise.reject(fault) : write(rememberVerb(notes, at))
    },
    readers: (key, at) =>
      read(query(statement(READERS, key, at - routingRetentionMs.readers), rows => rows as unknown as readonly Reader[])),
  }
}

/** Each write has a number; a cursor is the number of the last write that was read. */
const NEXT = statement('UPDATE routing_sequence SET seq = seq + 1')
const SEQUENCE = '(SELECT seq FROM routing_sequence)'
/** SQL for the number after which rows are new; 0 if this store did not issue the cursor. */
const known = (cursor: string): string => `iif(${cursor} <= ${SEQUENCE}, ${cursor}, 0)`

/** A newer row replaces an older one, as in `newerStatistics`. */
const PUBLISH = `
  INSERT INTO routing_statistics (writer, offer, seq, epoch, version, at, counts)
  SELECT value ->> 0, value ->> 1, ${SEQUENCE}, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?1) WHERE true
  ON CONFLICT (writer, offer) DO UPDATE SET
    seq = excluded.seq, epoch = excluded.epoch, version = excluded.version, at = excluded.at, counts = excluded.counts
  WHERE (excluded.epoch, excluded.version) > (epoch, version)`
const NEW_STATISTICS = `
  SELECT writer, offer, epoch, version, at, counts FROM routing_statistics
  WHERE seq > ${known('?2')} AND writer <> ?1 AND at > ?3`
const SWEEP_STATISTICS = `
  DELETE FROM routing_statistics WHERE (writer, offer) IN (
    SELECT writer, offer FROM routing_statistics WHERE at <= ?1 ORDER BY at LIMIT ${FORGOTTEN_ROWS})`

function publishVerb(rows: readonly OfferStatistics[], at: number): Verb<void> {
  const given = rows.map(({ writer, offer, epoch, version, at, ...counts }) => [writer, offer, epoch, version, at, JSON.stringify(counts)])
  return command(statement(SWEEP_STATISTICS, at - routingRetentionMs.statistics), NEXT, statement(PUBLISH, JSON.stringify(given)))
}

function toStatistics({ counts, ...row }: Row): OfferStatistics {
  return { ...row, ...JSON.parse(String(counts)) }
}

const PAUSE = `
  INSERT INTO routing_pauses (offer, seq, until) SELECT value ->> 0, ${SEQUENCE}, value ->> 1 FROM json_each(?1) WHERE true
  ON CONFLICT (offer) DO UPDATE SET seq = excluded.seq, until = excluded.until WHERE excluded.until > until`
const NEW_PAUSES = `SELECT offer, until FROM routing_pauses WHERE seq > ${known('?1')} AND until > ?2`

const pauseVerb = (pauses: readonly OfferPause[], at: number): Verb<void> =>
  command(
    statement('DELETE FROM routing_pauses WHERE until <= ?1', at),
    NEXT,
    statement(PAUSE, JSON.stringify(pauses.map(({ offer, until }) => [offer, until]))),
  )

/** The order of `mergeReaders`: the latest first, then the longest prompt, then the offer's name. */
const LATEST_FIRST = 'at DESC, tokens DESC, offer'
const REMEMBER = `
  INSERT INTO routing_readers (key, offer, tokens, at)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1) WHERE true
  ON CONFLICT (key, offer) DO UPDATE SET tokens = excluded.tokens, at = excluded.at WHERE (excluded.at, excluded.tokens) > (at, tokens)`
const KEEP_LATEST = `
  DELETE FROM routing_readers WHERE (key, offer) IN (
    SELECT key, offer FROM (
      SELECT key, offer, row_number() OVER (PARTITION BY key ORDER BY ${LATEST_FIRST}) AS place FROM routing_readers
      WHERE key IN (SELECT value ->> 0 FROM json_each(?1)))
    WHERE place > ${maxReaders})`
const READERS = `SELECT offer, tokens, at FROM routing_readers WHERE key = ?1 AND at > ?2 ORDER BY ${LATEST_FIRST}`
const SWEEP_READERS = `
  DELETE FROM routing_readers WHERE (key, offer) IN (
    SELECT key, offer FROM routing_readers WHERE at <= ?1 ORDER BY at LIMIT ${FORGOTTEN_ROWS})`

function rememberVerb(notes: readonly ReaderNote[], at: number): Verb<void> {
  const given = JSON.stringify(notes.map(({ key, offer, tokens, at }) => [key, offer, tokens, at]))
  return command(statement(SWEEP_READERS, at - routingRetentionMs.readers), statement(REMEMBER, given), statement(KEEP_LATEST, given))
}

/** The first invalid row: either all rows are written or none. */
function firstFault<T>(rows: readonly T[], faultOf: (row: T) => RangeError | undefined): RangeError | undefined {
  for (const row of rows) {
    const fault = faultOf(row)
    if (fault) return fault
  }
  return undefined
}

/** The number in a cursor; 0 if no store issued it. */
function cursorOf(cursor: string | undefined): number {
  const number = Number(cursor ?? 0)
  return Number.isSafeInteger(number) && number >= 0 ? number : 0
}
