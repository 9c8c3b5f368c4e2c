import { maxSum } from '@signalbox/storage/faults'
import { NOT_REFUSED, overRows } from './verb.ts'

// Lists of accounts have the columns account, amount and floor. Their order determines which account a refusal names: SQLite processes the
// left side of a join in order. `OR FAIL`: any failure ends the transaction, so a single statement need not be undone, for which SQLite
// would keep a journal.

/** Milliseconds of the hours that index entries. */
export const HOUR_MS = 3_600_000

/** SQL for a number clamped to `maxSum`: JavaScript cannot represent larger ones, and earlier versions let sums exceed it. */
export const clamped = (expression: string): string => `max(${-maxSum}, min(${maxSum}, ${expression}))`

/** SQL that is true for the movement of a settlement. */
const SETTLED = "id = ?1 AND kind = 'usage' AND credited_account = ''"

/** The first account without room for its amount, and what it could still hold. A floor of null refuses nothing. */
export const firstWithoutRoom = (wanted: string): string => `
  SELECT json_array(column1, max(0, available)) AS verdict FROM (
    SELECT column1, column2, min(
      ifnull(${clamped('ifnull(balance - held, 0)')} - column3, ${maxSum}), ${maxSum} - ${clamped('ifnull(held, 0)')}) AS available
    FROM ${wanted} LEFT JOIN accounts ON account = column1)
  WHERE available < column2`

/** Refuses an id ?1 that is held or settled, with the verdict `null`. */
export const REFUSE_KNOWN = `SELECT 'null' AS verdict
  WHERE EXISTS (SELECT 1 FROM holds WHERE id = ?1) OR EXISTS (SELECT 1 FROM movements WHERE ${SETTLED})`

export const refuseReserve = overRows(0, 3, wanted => `${firstWithoutRoom(wanted)} LIMIT 1`)

/** A hold that is not live has nothing available on the first account ?2. */
export const refuseExtend = overRows(
  2,
  3,
  wanted => `
  SELECT json_array(?2, 0) AS verdict WHERE NOT EXISTS (SELECT 1 FROM holds WHERE id = ?1)
  UNION ALL ${firstWithoutRoom(wanted)} LIMIT 1`,
)

export const setAside = overRows(
  0,
  3,
  wanted => `
  INSERT INTO accounts (account, balance, held, credited, spent) SELECT column1, 0, column2, 0, 0 FROM ${wanted} WHERE ${NOT_REFUSED}
  ON CONFLICT (account) DO UPDATE SET held = held + excluded.held`,
)

export const HOLD = `INSERT OR FAIL INTO holds (id, accounts, version, journal) SELECT ?1, ?2, 1, ?3 WHERE ${NOT_REFUSED}`

/** Amounts of one account are added up. */
export const GROW_HOLD = `
  UPDATE holds SET version = version + 1, accounts = (
    SELECT json_group_array(json_array(name, amount)) FROM (
      SELECT value ->> 0 AS name, sum(value ->> 1) AS amount
      FROM (SELECT value FROM json_each(holds.accounts) UNION ALL SELECT value FROM json_each(?2)) GROUP BY name))
  WHERE id = ?1 AND ${NOT_REFUSED}`

export const RENEW = `
  UPDATE holds SET version = version + 1, journal = coalesce(renewed.journal, holds.journal)
  FROM (SELECT value ->> 0 AS id, value ->> 1 AS journal FROM json_each(?1)) AS renewed WHERE holds.id = renewed.id`

export const REFUSE_SETTLE = `SELECT 'null' AS verdict FROM movements WHERE ${SETTLED}`

/** All accounts of the hold exist, because they were created when money was set aside. */
export const FREE_HELD = `
  INSERT INTO accounts (account, balance, held, credited, spent)
  SELECT pair.value ->> 0, 0, 0 - (pair.value ->> 1), 0, 0
  FROM holds, json_each(holds.accounts) AS pair WHERE holds.id = ?1 AND ${NOT_REFUSED}
  ON CONFLICT (account) DO UPDATE SET held = held + excluded.held`

export const UNHOLD = `DELETE FROM holds WHERE id = ?1 AND ${NOT_REFUSED}`

export const BEGIN_SETTLEMENT = `INSERT OR FAIL INTO movements (id, kind, credited_account) SELECT ?1, 'usage', '' WHERE ${NOT_REFUSED}`

/** Charges a list of accounts and amounts. */
export const charge = overRows(
  0,
  2,
  charged => `
  INSERT INTO accounts (account, balance, held, credited, spent)
  SELECT column1, 0 - column2, 0, 0, column2 FROM ${charged} WHERE ${NOT_REFUSED}
  ON CONFLICT (account) DO UPDATE SET
    balance = max(${-maxSum}, balance + excluded.balance), spent = min(${maxSum}, spent + excluded.spent)`,
)

/** Writes the entries of a settlement ?1 at ?2, after the accounts are charged. */
export const enterUsage = overRows(
  2,
  2,
  charged => `
  INSERT OR FAIL INTO entries (account, seq, id, kind, amount, balance_after, at)
  SELECT account, (SELECT seq FROM movements WHERE ${SETTLED}), ?1, 'usage', 0 - column2, balance, ?2
  FROM ${charged} CROSS JOIN accounts ON account = column1 WHERE ${NOT_REFUSED}`,
)

/** The accounts in the list ?1 without holds. */
const FORGOTTEN = 'SELECT account FROM json_each(?1) CROSS JOIN accounts ON account = value WHERE held = 0'

/** Removes at most ?2 entries of the accounts in the list ?1. */
export const FORGET_ENTRIES = `
  DELETE FROM entries WHERE (account, seq) IN (
    SELECT entries.account, seq FROM (${FORGOTTEN}) AS over CROSS JOIN entries ON entries.account = over.account LIMIT ?2)
  RETURNING 1`

export const FORGET_REST = `DELETE FROM entries WHERE account IN (${FORGOTTEN})`

export const FORGET_HOURS = `DELETE FROM entry_hours WHERE account IN (${FORGOTTEN})`

export const FORGET_ACCOUNTS = `DELETE FROM accounts WHERE account IN (${FORGOTTEN}) RETURNING 1`

/** At most ?4 account names from ?1 on, below ?2 and after ?3. */
export const ACCOUNT_NAMES = 'SELECT account FROM accounts WHERE account >= ?1 AND account < ?2 AND account > ?3 ORDER BY account LIMIT ?4'

/** Records the hour ?2 of the entries of a settlement ?1. */
export const noteHours = overRows(
  2,
  2,
  charged => `
  INSERT INTO entry_hours (account, hour, first_seq, last_seq)
  SELECT column1, ?2, seq, seq FROM (SELECT seq FROM movements WHERE ${SETTLED}) CROSS JOIN ${charged} WHERE ${NOT_REFUSED}
  ON CONFLICT (account, hour) DO UPDATE SET last_seq = excluded.last_seq`,
)
