import type { CounterStore } from '@signalbox/storage'
import type { Limit } from '@signalbox/storage/admission'
import type { CounterRefusal, CounterRequest, SlotRequest } from '@signalbox/storage/counters'
import { faultOfAdd, faultOfSlot, faultOfTake } from '@signalbox/storage/faults'
import type { Connection } from './connection.ts'
import { command, NOT_REFUSED, overRows, type Statement, statement, type Verb } from './verb.ts'

/** Milliseconds for which expired rows are kept, because the clock of another process may be slow. */
const GRACE_MS = 600_000
const SWEEP_EVERY = 256
const SWEEP_ROWS = 512

/** Windows and slots in SQLite. `await sqliteCounters(connection, makeSweep()).enter({ key, slot, limit: 8, ttlMs: 60_000 }, at)` */
export function sqliteCounters({ write }: Pick<Connection, 'write'>, sweep: Sweep): CounterStore {
  return {
    take(requests, at) {
      const fault = faultOfTake(requests, at)
      if (fault) return Promise.reject(fault)
      return requests.length === 0 ? undefined : write(takeVerb(requests, at))
    },
    add(key, amount, at) {
      const fault = faultOfAdd(amount, at)
      return fault ? Promise.reject(fault) : write(command(statement(CORRECT, key, amount, at)))
    },
    enter(request, at) {
      const fault = faultOfSlot(request, at)
      return fault ? Promise.reject(fault) : write(sweep(enterVerb(request, at), at))
    },
    leave: (key, slot) => write(command(leaveSlot(key, slot))),
  }
}

/** Frees a slot. `command(leaveSlot('key_1', 'req_1'))` */
export const leaveSlot = (key: string, slot: string): Statement => statement('DELETE FROM slots WHERE key = ?1 AND slot = ?2', key, slot)

// Takes have the columns key, amount, amount so far, limit, window length, and whether it is a counter of requests; ?1 is the time.

/** SQL for a window that is neither over nor void. One that ends more than twice its length from now was started before the clock was set back. */
const IS_COUNTING = 'counters.ends_at > ?1 AND counters.ends_at <= ?1 + 2 * (excluded.ends_at - ?1)'

/** The first counter without room, and the time until it has some. */
export const fullCounter = (takes: string): string => `
  SELECT json_array(column1, min(ifnull(ends_at - ?1, column5), column5)) AS verdict
  FROM ${takes} LEFT JOIN counters ON key = column1 AND ends_at > ?1 AND ends_at <= ?1 + 2 * column5
  WHERE ifnull(used, 0) + column3 > column4 LIMIT 1`

/** Adds to the counters that a condition selects. */
export const addTakes = (takes: string, condition: string): string => `
  INSERT INTO counters (key, used, ends_at) SELECT column1, column2, ?1 + column5 FROM ${takes} WHERE ${condition}
  ON CONFLICT (key) DO UPDATE SET
    used = excluded.used + iif(${IS_COUNTING}, used, 0),
    ends_at = iif(${IS_COUNTING}, min(ends_at, excluded.ends_at), excluded.ends_at)`

const refuseTake = overRows(1, 6, fullCounter)

export const shortenWindows = overRows(
  1,
  6,
  takes => `
  UPDATE counters SET ends_at = ?1 + column5 FROM ${takes}
  WHERE key = column1 AND ends_at > ?1 + column5 AND ends_at <= ?1 + 2 * column5`,
)

export const take = overRows(1, 6, takes => addTakes(takes, NOT_REFUSED))

/** The rows of takes. A counter may be listed twice. */
export const takeRows = (requests: readonly (CounterRequest & { readonly kind?: Limit['kind'] })[]) =>
  requests.map(({ key, amount, limit, windowMs, kind }, index) => {
    let soFar = amount
    for (let before = 0; before < index; before++) if (requests[before]?.key === key) soFar += requests[before]?.amount ?? 0
    return [key, amount, soFar, limit, windowMs, kind === 'rate' ? 1 : 0] as const
  })

function takeVerb(requests: readonly CounterRequest[], at: number): Verb<CounterRefusal | undefined> {
  const takes = takeRows(requests)
  return {
    refusals: [refuseTake([at], takes)],
    ifRefused: [shortenWindows([at], takes)],
    statements: [take([at], takes)],
    answer(_, verdict) {
      if (verdict === undefined) return undefined
      const [key, retryAfterMs] = JSON.parse(verdict) as readonly [string, number]
      return { key, retryAfterMs }
    },
  }
}

const CORRECT = 'UPDATE counters SET used = max(0, used + ?2) WHERE key = ?1 AND ends_at > ?3'

const IS_FULL = 'ifnull((SELECT taken FROM slot_counts WHERE key = ?1), 0) >= ?2'
/** SQL for the key ?1 if all of its slots are taken. Otherwise statements read no slots. */
const FULL_KEY = `(SELECT ?1 WHERE ${IS_FULL})`
const CLEAR_SLOTS = `DELETE FROM slots WHERE key = ${FULL_KEY} AND ends_at <= ?3`
const ENTER = `
  INSERT INTO slots (key, slot, ends_at) SELECT ?1, ?3, ?5
  WHERE NOT (${IS_FULL}) OR EXISTS (SELECT 1 FROM slots WHERE key = ?1 AND slot = ?3 AND ends_at > ?4)
  ON CONFLICT (key, slot) DO UPDATE SET ends_at = excluded.ends_at RETURNING 1 AS entered`
const SHORTEN_SLOTS = `UPDATE slots SET ends_at = ?3 WHERE key = ${FULL_KEY} AND ends_at > ?3`

const enterVerb = ({ key, slot, limit, ttlMs }: SlotRequest, at: number): Verb<boolean> => ({
  statements: [
    statement(CLEAR_SLOTS, key, limit, at),
    statement(ENTER, key, limit, slot, at, at + ttlMs),
    statement(SHORTEN_SLOTS, key, limit, at + ttlMs),
  ],
  answer: ([, entered = []]) => entered.length > 0,
})

/** SQL for the end of the range of counters that begins after ?1; null for the last. */
const RANGE_END = `(SELECT key FROM counters WHERE key > ?1 ORDER BY key LIMIT 1 OFFSET ${SWEEP_ROWS})`
/** The end of the table: in SQLite, blobs sort after texts. */
const TABLE_END = "x''"

/** Adds a sweep to a verb from time to time. */
export type Sweep = <T>(verb: Verb<T>, at: number) => Verb<T>

/** Deletes long-expired windows and slots, one key range at a time, in proportion to use. `makeSweep()(verb, at)` */
export function makeSweep(): Sweep {
  let calls = 0
  let place = ''
  return (verb, at) => {
    if (++calls % SWEEP_EVERY !== 0) return verb
    const before = at - GRACE_MS
    const sweeps: readonly Statement[] = [
      statement(`SELECT ${RANGE_END} AS next`, place),
      statement(`DELETE FROM slots WHERE ends_at <= ?2 AND ${RANGE_END} IS NULL`, place, before),
      statement(`DELETE FROM slot_counts WHERE taken = 0 AND ${RANGE_END} IS NULL`, place),
      statement(`DELETE FROM counters WHERE key > ?1 AND key <= ifnull(${RANGE_END}, ${TABLE_END}) AND ends_at <= ?2`, place, before),
    ]
    return {
      ...verb,
      statements: [...sweeps, ...verb.statements],
      answer(rows, verdict) {
        const next = rows[0]?.[0]?.next
        if (verdict === undefined) place = typeof next === 'string' ? next : ''
        return verb.answer(rows.slice(sweeps.length), verdict)
      },
    }
  }
}
