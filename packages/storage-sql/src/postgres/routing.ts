import type { RoutingStore } from '@signalbox/storage'
import { faultOfPause, faultOfReader, faultOfStatistics } from '@signalbox/storage/faults'
import { maxReaders, mergeStatistics, type OfferStatistics, routingRetentionMs } from '@signalbox/storage/routing'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'
import { numberArray, textArray, toInteger } from './parameters.ts'
import { postgresReads } from './reads.ts'

/** The numbers of a row of statistics, in the order of the function's parameters. */
const numberFields = [
  ...(['epoch', 'version', 'at', 'answered', 'failed', 'finished', 'broken', 'waits', 'lnWaits', 'lnWaitsSquared'] as const),
  ...(['speeds', 'lnSpeeds'] as const),
] as const
const isLogarithm = (field: string): boolean => field.startsWith('ln')

/** Routing state in PostgreSQL. `await postgresRouting(connection).news({ writer: 'me' }, at)` */
export function postgresRouting(connection: PostgresConnection): RoutingStore {
  const reads = postgresReads(connection)
  const { schema } = connection
  /** The number of the last change that is kept. */
  const last = `SELECT (SELECT max(sequence) FROM ${schema}.offer_statistics) AS statistics,
    (SELECT max(sequence) FROM ${schema}.offer_pauses) AS pauses`
  const changedStatistics = `SELECT * FROM ${schema}.offer_statistics WHERE sequence > $1 AND writer <> $2 AND at > $3`
  const changedPauses = `SELECT offer, until FROM ${schema}.offer_pauses WHERE sequence > $1 AND until > $2`
  const readers = `SELECT offer, tokens, at FROM ${schema}.conversation_readers WHERE key = $1 AND at > $2
    ORDER BY at DESC, tokens DESC, offer`
  const publishTypes = ['text[]', 'text[]', ...numberFields.map(field => (isLogarithm(field) ? 'double precision[]' : 'bigint[]'))]
  const publish = connection.caller('routing.publish', 'publish', publishTypes)
  const pause = connection.caller('routing.pause', 'pause', ['text[]', 'bigint[]'])
  const remember = connection.caller('routing.remember', 'remember', ['text[]', 'text[]', 'bigint[]', 'bigint[]', 'int'])
  const serverTime = connection.caller('read', 'server_ms', [])
  const now = async (at: number): Promise<number> => (connection.isServerTime ? toInteger(await serverTime([])) : at)

  return {
    async publish(rows) {
      refuseFirst(rows, faultOfStatistics)
      const merged = mergeStatistics(rows, [])
      if (merged.length === 0) return
      const numbers = numberFields.map(field => numberArray(merged.map(row => row[field])))
      await publish([textArray(merged.map(({ writer }) => writer)), textArray(merged.map(({ offer }) => offer)), ...numbers])
    },
    async pause(pauses) {
      refuseFirst(pauses, faultOfPause)
      if (pauses.length > 0) await pause([textArray(pauses.map(({ offer }) => offer)), numberArray(pauses.map(({ until }) => until))])
    },
    async news({ writer, after }, given) {
      // Read before the rows: what is committed in between is returned again, so nothing is missed.
      const [[newest], at] = await Promise.all([reads.fixed(last, []), now(given)])
      const sequence = Math.max(toInteger(newest?.statistics ?? 0), toInteger(newest?.pauses ?? 0))
      const known = knownSequence(after, sequence)
      const [statistics, pauses] = await Promise.all([
        reads.fixed(changedStatistics, [known, writer, at - routingRetentionMs.statistics]),
        reads.fixed(changedPauses, [known, at]),
      ])
      return {
        cursor: `${sequence}`,
        statistics: statistics.map(toStatistics),
        pauses: pauses.map(({ offer, until }) => ({ offer: String(offer), until: toInteger(until) })),
      }
    },
    async remember(notes) {
      refuseFirst(notes, faultOfReader)
      if (notes.length === 0) return
      const keys = [textArray(notes.map(({ key }) => key)), textArray(notes.map(({ offer }) => offer))]
      await remember([...keys, numberArray(notes.map(({ tokens }) => tokens)), numberArray(notes.map(({ at }) => at)), maxReaders])
    },
    async readers(key, given) {
      const at = await now(given)
      const rows = await reads.fixed(readers, [key, at - routingRetentionMs.readers])
      return rows.map(({ offer, tokens, at }) => ({ offer: String(offer), tokens: toInteger(tokens), at: toInteger(at) }))
    },
  }
}

/** Either all rows are stored or none. */
function refuseFirst<Row>(rows: readonly Row[], faultOf: (row: Row) => RangeError | undefined): void {
  for (const row of rows) {
    const fault = faultOf(row)
    if (fault) throw fault
  }
}

/** The number in a cursor; 0 if this schema did not issue it. */
function knownSequence(cursor: string | undefined, last: number): number {
  const sequence = Number(cursor ?? 0)
  return Number.isSafeInteger(sequence) && sequence >= 0 && sequence <= last ? sequence : 0
}

function toStatistics(row: SqlRow): OfferStatistics {
  return {
    writer: String(row.writer),
    offer: String(row.offer),
    epoch: toInteger(row.epoch),
    version: toInteger(row.version),
    at: toInteger(row.at),
    answered: toInteger(row.answered),
    failed: toInteger(row.failed),
    finished: toInteger(row.finished),
    broken: toInteger(row.broken),
    waits: toInteger(row.waits),
    lnWaits: Number(row.ln_waits),
    lnWaitsSquared: Number(row.ln_waits_squared),
    speeds: toInteger(row.speeds),
    lnSpeeds: Number(row.ln_speeds),
  }
}
