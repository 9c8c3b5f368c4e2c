import type { Storage } from '@signalbox/storage'
import { type Admission, faultOfAdmission, type LimitRefusal } from '@signalbox/storage/admission'
import type { Connection } from './connection.ts'
import { addTakes, fullCounter, type Sweep, shortenWindows, take, takeRows } from './counters.ts'
import { heldText, toWanted } from './ledger.ts'
import { firstWithoutRoom, HOLD, REFUSE_KNOWN, setAside } from './ledger-sql.ts'
import { IS_REFUSED, NOT_REFUSED, overRows, type Statement, statement, type Verb } from './verb.ts'

/** Admits requests, each in one transaction. `await sqliteAdmit(connection, makeSweep())({ id, limits, at })` */
export const sqliteAdmit =
  ({ write }: Pick<Connection, 'write'>, sweep: Sweep): NonNullable<Storage['admit']> =>
  admission => {
    const fault = faultOfAdmission(admission)
    return fault ? Promise.reject(fault) : write(sweep(admitVerb(admission), admission.at))
  }

// Slots have the columns key, limit and length of the lease; ?1 is the time, and ?2 the id of the admission. The first letter of a verdict
// says what refuses: a slot, a counter or an account.

const SEEMS_FULL = 'ifnull((SELECT taken FROM slot_counts WHERE slot_counts.key = column1), 0) >= column2'

const refuseSlots = overRows(
  2,
  3,
  slots => `
  SELECT 's' || json_array(column1, 0) AS verdict FROM ${slots} WHERE ${SEEMS_FULL}
    AND (SELECT count(*) FROM slots WHERE slots.key = column1 AND ends_at > ?1) >= column2
    AND NOT EXISTS (SELECT 1 FROM slots WHERE slots.key = column1 AND slot = ?2 AND ends_at > ?1) LIMIT 1`,
)

const clearSlots = overRows(
  1,
  3,
  slots => `DELETE FROM slots WHERE key IN (SELECT column1 FROM ${slots} WHERE ${SEEMS_FULL}) AND ends_at <= ?1 AND ${NOT_REFUSED}`,
)

const enterSlots = overRows(
  2,
  3,
  slots => `
  INSERT INTO slots (key, slot, ends_at) SELECT column1, ?2, ?1 + column3 FROM ${slots} WHERE ${NOT_REFUSED}
  ON CONFLICT (key, slot) DO UPDATE SET ends_at = excluded.ends_at`,
)

const shortenSlots = overRows(
  1,
  3,
  slots => `UPDATE slots SET ends_at = ?1 + column3 FROM ${slots} WHERE slots.key = column1 AND ${SEEMS_FULL} AND ends_at > ?1 + column3`,
)

const refuseCounters = overRows(1, 6, takes => `SELECT 'c' || verdict AS verdict FROM (${fullCounter(takes)})`)

const refuseAccounts = overRows(0, 3, wanted => `SELECT 'a' || verdict AS verdict FROM (${firstWithoutRoom(wanted)} LIMIT 1)`)

/** Counts a request that a slot or an account refuses. */
const countRefused = overRows(2, 6, takes =>
  addTakes(
    takes,
    `column6 = 1 AND ${IS_REFUSED} AND NOT EXISTS (${REFUSE_KNOWN.replaceAll('?1', '?2')}) AND NOT EXISTS (${fullCounter(takes)})`,
  ),
)

/** An id that is held or settled was admitted before, and takes nothing again. */
function admitVerb({ id, limits, at, journal }: Admission): Verb<LimitRefusal | undefined> {
  const slots = limits.filter(({ kind }) => kind === 'slot').map(({ key, limit, windowMs }) => [key, limit, windowMs] as const)
  const takes = takeRows(limits.filter(({ kind }) => kind === 'rate' || kind === 'tokens'))
  const wanted = limits
    .filter(({ kind }) => kind === 'account')
    .map(({ key, amount, limit }) => toWanted({ account: key, amount, floor: 0 - limit }))
  const refusals: Statement[] = []
  const ifRefused: Statement[] = []
  const statements: Statement[] = []
  const isHeld = wanted.length > 0 || journal !== undefined
  if (isHeld) refusals.push(statement(REFUSE_KNOWN, id))
  if (slots.length > 0) {
    refusals.push(refuseSlots([at, id], slots))
    ifRefused.push(shortenSlots([at], slots))
    statements.push(clearSlots([at], slots), enterSlots([at, id], slots))
  }
  if (takes.length > 0) {
    refusals.push(refuseCounters([at], takes))
    ifRefused.push(countRefused([at, id], takes), shortenWindows([at], takes))
    statements.push(take([at], takes))
  }
  if (wanted.length > 0) {
    refusals.push(refuseAccounts([], wanted))
    statements.push(setAside([], wanted))
  }
  if (isHeld) statements.push(statement(HOLD, id, heldText(wanted), journal?.() ?? null))
  const kindsOf = { s: ['slot'], c: ['rate', 'tokens'], a: ['account'] } as const
  return {
    refusals,
    ifRefused,
    statements,
    answer(_, verdict) {
      if (verdict === undefined || verdict === 'null') return undefined
      const [name, left] = JSON.parse(verdict.slice(1)) as readonly [string, number]
      const kinds: readonly string[] = kindsOf[verdict[0] as keyof typeof kindsOf]
      return { index: limits.findIndex(({ kind, key }) => key === name && kinds.includes(kind)), left }
    },
  }
}
