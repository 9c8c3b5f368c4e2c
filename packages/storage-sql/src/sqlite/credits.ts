import type { CreditEntry } from '@signalbox/storage'
import { faultOfSums, maxSum } from '@signalbox/storage/faults'
import { clamped, HOUR_MS } from './ledger-sql.ts'
import { NOT_REFUSED, type Statement, statement, type Verb } from './verb.ts'

// Credits are a JSON list, because a change of records may include several. They are booked in order: each sees the sums after the previous
// ones.

const CREDITS = `
  SELECT key AS place, value ->> 0 AS id, value ->> 1 AS name, value ->> 2 AS amount, value ->> 3 AS at, value ->> 4 AS kind,
    value ->> 5 AS note FROM json_each(?1)`
const BEFORE = 'OVER (PARTITION BY name ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)'

/** Whether a sum passes `maxSum`, and moves away from 0. */
const passes = (sum: string): string => `abs(${sum} + amount) > ${maxSum} AND abs(${sum} + amount) > abs(${sum})`

/**
 * SQL for the first of the credits ?1 that already exists (`credit`) or that its account has no room for (`sum`): a list of reason,
 * account, id, and the sums of the account.
 */
export const REFUSED_CREDIT = `
  SELECT place, json_array(iif(known, 'credit', 'sum'), name, id, balance, credited) AS verdict FROM (
    SELECT place, name, id, amount,
      ifnull(${clamped('accounts.balance')}, 0) + ifnull(sum(amount) ${BEFORE}, 0) AS balance,
      ifnull(${clamped('accounts.credited')}, 0) + ifnull(sum(amount) ${BEFORE}, 0) AS credited,
      row_number() OVER (PARTITION BY name, id ORDER BY place) > 1 OR EXISTS (
        SELECT 1 FROM movements WHERE movements.id = given.id AND kind = 'credit' AND credited_account = name) AS known
    FROM (${CREDITS}) AS given LEFT JOIN accounts ON account = name)
  WHERE known OR ${passes('balance')} OR ${passes('credited')}`

const MOVE = `
  INSERT INTO movements (id, kind, credited_account)
  SELECT value ->> 0, 'credit', value ->> 1 FROM json_each(?1) WHERE ${NOT_REFUSED} ORDER BY key`

const ENTER = `
  INSERT INTO entries (account, seq, id, kind, amount, balance_after, at, note)
  SELECT name, movements.seq, given.id, given.kind, amount,
    ifnull(balance, 0) + sum(amount) OVER (PARTITION BY name ORDER BY place), at, note
  FROM (${CREDITS}) AS given
  JOIN movements ON movements.id = given.id AND movements.kind = 'credit' AND credited_account = name
  LEFT JOIN accounts ON account = name
  WHERE ${NOT_REFUSED}`

const ADD_CREDITS = `
  INSERT INTO accounts (account, balance, held, credited, spent)
  SELECT value ->> 1, value ->> 2, 0, value ->> 2, 0 FROM json_each(?1) WHERE ${NOT_REFUSED}
  ON CONFLICT (account) DO UPDATE SET balance = balance + excluded.balance, credited = credited + excluded.credited`

/** Hours are rounded towards 0, as for usage. */
const HOURS = `
  INSERT INTO entry_hours (account, hour, first_seq, last_seq)
  SELECT name, at / ${HOUR_MS}, movements.seq, movements.seq FROM (${CREDITS}) AS given
  JOIN movements ON movements.id = given.id AND movements.kind = 'credit' AND credited_account = name
  WHERE ${NOT_REFUSED} ORDER BY place
  ON CONFLICT (account, hour) DO UPDATE SET last_seq = excluded.last_seq`

/** Credits as a parameter. */
export const creditsText = (credits: readonly CreditEntry[]): string =>
  JSON.stringify(credits.map(({ id, account, amount, at, kind = 'credit', note = null }) => [id, account, amount, at, kind, note]))

/** The statements that book credits. The verb's refusals must include `REFUSED_CREDIT`. */
export const bookCredits = (credits: string): readonly Statement[] => [MOVE, ENTER, ADD_CREDITS, HOURS].map(sql => statement(sql, credits))

/** Books a credit once. Fails with a RangeError if the sums of its account would exceed `maxSum`. */
export function creditVerb(entry: CreditEntry): Verb<void> {
  const credits = creditsText([entry])
  return {
    refusals: [statement(`SELECT verdict FROM (${REFUSED_CREDIT})`, credits)],
    statements: bookCredits(credits),
    answer(_, verdict) {
      if (verdict === undefined) return
      const [reason, , , balance, credited] = JSON.parse(verdict) as readonly [string, string, string, number, number]
      if (reason === 'sum') throw faultOfSums({ balance, credited }, entry)
    },
  }
}
