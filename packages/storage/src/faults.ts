import type { AuditRow } from './audit.ts'
import type { CounterRequest, SlotRequest } from './counters.ts'
import type { ItemRenewal, ItemTimes, StoredItem } from './items.ts'
import type { AccountHold, Balance, CreditEntry, HoldExtension, HoldRequest, Settlement } from './ledger.ts'
import type { Change, RecordPut, RecordRemoval, StoredRecord } from './records.ts'
import type { OfferPause, OfferStatistics, ReaderNote } from './routing.ts'
import type { UsageRow } from './usage.ts'

// Argument checks that every store makes before it executes a method: a fraction of a microdollar or a NaN would stay in the ledger
// forever. An invalid call fails alone and changes nothing.

/** The largest sum of an account in microdollars, in either direction: beyond it, JavaScript numbers are not exact. */
export const maxSum: number = Number.MAX_SAFE_INTEGER

/** The error of an invalid hold. `faultOfHold({ ...hold, amount: 0.5 })?.message` */
export const faultOfHold = (hold: HoldRequest): RangeError | undefined =>
  faultOfAmount('ledger.reserve: `amount`', hold.amount) ??
  faultOfTime('ledger.reserve: `at`', hold.at) ??
  faultOfAccounts('ledger.reserve', hold.accounts)

/** The error of an invalid extension of a hold. `faultOfExtension({ id, accounts: [{ account, floor: 0, amount: -1 }] })?.message` */
export const faultOfExtension = ({ accounts }: HoldExtension): RangeError | undefined => faultOfAccounts('ledger.extend', accounts)

function faultOfAccounts(verb: string, accounts: readonly AccountHold[]): RangeError | undefined {
  for (let index = 0; index < accounts.length; index++) {
    const { account, floor, amount } = accounts[index] ?? { account: '', floor: 0 }
    const wrong = amount === undefined ? undefined : faultOfAmount(`${verb}: the amount of \`${account}\``, amount)
    if (wrong) return wrong
    if (!Number.isSafeInteger(floor) && floor !== Number.NEGATIVE_INFINITY)
      return new RangeError(`${verb}: the floor of \`${account}\` must be whole microdollars or -Infinity, got ${floor}.`)
    for (let other = 0; other < index; other++)
      if (accounts[other]?.account === account)
        return new RangeError(`${verb}: \`${account}\` is listed twice. List each account once, with its highest floor.`)
  }
  return undefined
}

/** The error of an invalid settlement. `faultOfSettlement({ id, amounts: { a: -1 }, at })?.message` */
export function faultOfSettlement(settlement: Settlement): RangeError | undefined {
  for (const account of Object.keys(settlement.amounts)) {
    const amount = settlement.amounts[account]
    if (!isAmount(amount)) return faultOfAmount(`ledger.settle: the amount of \`${account}\``, amount)
  }
  return faultOfTime('ledger.settle: `at`', settlement.at)
}

/** The error of an invalid credit. `faultOfCredit({ id, account, amount: 0, at })?.message` */
export function faultOfCredit({ amount, at, kind }: Pick<CreditEntry, 'amount' | 'at' | 'kind'>): RangeError | undefined {
  if (amount === 0) return new RangeError('ledger.credit: `amount` must not be 0.')
  return (
    faultOfAmount('ledger.credit: `amount`', kind === 'adjustment' ? Math.abs(amount) : amount) ?? faultOfTime('ledger.credit: `at`', at)
  )
}

/** The error of a credit that takes an account's sums past `maxSum`. `faultOfSums({ balance: maxSum, credited: maxSum }, entry)?.message` */
export function faultOfSums(
  { balance, credited }: Pick<Balance, 'balance' | 'credited'>,
  { account, amount }: Pick<CreditEntry, 'account' | 'amount'>,
): RangeError | undefined {
  const passes = (sum: number): boolean => Math.abs(sum + amount) > maxSum && Math.abs(sum + amount) > Math.abs(sum)
  return passes(balance) || passes(credited)
    ? new RangeError(
        `ledger.credit: with ${amount} more the sums of \`${account}\` would pass ${maxSum} microdollars, beyond which they are not exact. Credit less, or correct the account towards 0 first.`,
      )
    : undefined
}

/** The error of an invalid take from counters. `faultOfTake([{ key, amount: 1, limit: 5, windowMs: 0 }], at)?.message` */
export function faultOfTake(requests: readonly CounterRequest[], at: number): RangeError | undefined {
  for (const { key, amount, limit, windowMs } of requests) {
    if (!isAmount(amount) || !isAmount(limit))
      return new RangeError(
        `counters.take: \`amount\` and \`limit\` of \`${key}\` must be whole numbers, 0 or more, got ${amount} and ${limit}.`,
      )
    if (!(Number.isSafeInteger(windowMs) && windowMs > 0))
      return new RangeError(`counters.take: \`windowMs\` of \`${key}\` must be whole milliseconds above 0, got ${windowMs}.`)
  }
  return faultOfTime('counters.take: `at`', at)
}

/** The error of an invalid correction of a counter. `faultOfAdd(0.5, at)?.message` */
export function faultOfAdd(amount: number, at: number): RangeError | undefined {
  if (!Number.isSafeInteger(amount)) return new RangeError(`counters.add: \`amount\` must be a whole number, got ${amount}.`)
  return faultOfTime('counters.add: `at`', at)
}

/** The error of an invalid slot. `faultOfSlot({ key, slot, limit: -1, ttlMs: 1_000 }, at)?.message` */
export function faultOfSlot({ key, limit, ttlMs }: SlotRequest, at: number): RangeError | undefined {
  if (!isAmount(limit)) return new RangeError(`counters.enter: \`limit\` of \`${key}\` must be a whole number, 0 or more, got ${limit}.`)
  if (!(Number.isSafeInteger(ttlMs) && ttlMs > 0))
    return new RangeError(`counters.enter: \`ttlMs\` of \`${key}\` must be whole milliseconds above 0, got ${ttlMs}.`)
  return faultOfTime('counters.enter: `at`', at)
}

/**
 * The error of an invalid change of records; an invalid date would otherwise be stored as null. `faultOfChange({ puts: [{ ...put,
 * createdAt: NaN }] })?.message`
 */
export function faultOfChange({ puts = [], removals = [], credits = [], audit = [] }: Change): RangeError | undefined {
  const fault = faultOfVersions(puts, removals)
  if (fault) return fault
  for (const put of puts) {
    const fault = faultOfRecordTimes(put)
    if (fault) return fault
  }
  for (const credit of credits) {
    const fault = faultOfCredit(credit)
    if (fault) return fault
  }
  return faultOfAudit(audit)
}

function faultOfVersions(puts: readonly RecordPut[], removals: readonly RecordRemoval[]): RangeError | undefined {
  const named = new Set<string>()
  for (const { kind, id, version } of [...puts, ...removals]) {
    if (!isAmount(version))
      return new RangeError(`records.commit: the version of \`${id}\` must be a whole number, 0 or more, got ${version}.`)
    const key = JSON.stringify([kind, id])
    if (named.has(key)) return new RangeError(`records.commit: \`${id}\` is listed twice. Put or remove it once.`)
    named.add(key)
  }
  const unborn = removals.find(({ version }) => version === 0)
  return unborn && new RangeError(`records.commit: the version of \`${unborn.id}\` is 0, but only an existing record can be removed.`)
}

function faultOfRecordTimes(put: Pick<StoredRecord, 'id' | 'createdAt' | 'expiresAt'>): RangeError | undefined {
  for (const field of ['createdAt', 'expiresAt'] as const) {
    const value = put[field]
    const fault = value === undefined ? undefined : faultOfTime(`records.commit: \`${field}\` of \`${put.id}\``, value)
    if (fault) return fault
  }
  return undefined
}

function faultOfAudit(rows: readonly AuditRow[]): RangeError | undefined {
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1]
    if (!isAmount(row.place) || row.place === 0 || (before && !isNext(row, before)))
      return new RangeError(
        'records.commit: audit rows must be of one workspace, each in the place after the one before it and with its hash.',
      )
    const fault = faultOfTime('records.commit: `at` of an audit row', row.at)
    if (fault) return fault
  }
  return undefined
}

const isNext = (row: AuditRow, before: AuditRow): boolean =>
  row.workspaceId === before.workspaceId && row.place === before.place + 1 && row.previousHash === before.hash

/** The error of an invalid time of use. `faultOfUse({ id, at: NaN })?.message` */
export const faultOfUse = ({ at }: { readonly at: number }): RangeError | undefined => faultOfTime('records.touch: `at`', at)

/** The error of an invalid time of expiry; SQL would treat NaN as no bound. `faultOfExpiry(NaN)?.message` */
export const faultOfExpiry = (at: number): RangeError | undefined => faultOfTime('records.expire: `at`', at)

/** The error of an invalid usage row. `faultOfUsage({ ...row, cost: -1 })?.message` */
export function faultOfUsage(row: UsageRow): RangeError | undefined {
  const whole =
    isAmount(row.inputTokens) &&
    isAmount(row.outputTokens) &&
    isAmount(row.cachedTokens) &&
    isAmount(row.cacheWriteTokens) &&
    isAmount(row.reasoningTokens) &&
    isAmount(row.cost) &&
    isAmount(row.byokCost) &&
    isAmount(row.attempts) &&
    isAmount(row.durationMs) &&
    (row.firstContentMs === undefined || isAmount(row.firstContentMs))
  if (!whole)
    return new RangeError(
      `usage.append: tokens, cost, attempts and times of \`${row.id}\` must be whole numbers, 0 or more. Round them first.`,
    )
  return faultOfTime('usage.append: `at`', row.at)
}

/** The error of invalid statistics of an offer. `faultOfStatistics({ ...row, lnWaits: NaN })?.message` */
export function faultOfStatistics(row: OfferStatistics): RangeError | undefined {
  for (const field of ['answered', 'failed', 'finished', 'broken', 'waits', 'speeds', 'epoch', 'version', 'at'] as const)
    if (!isAmount(row[field])) return faultOfRow(`\`${field}\``, 'a whole number, 0 or more', row[field])
  for (const field of ['lnWaits', 'lnWaitsSquared', 'lnSpeeds'] as const)
    if (!(Number.isFinite(row[field]) && row[field] >= 0)) return faultOfRow(`\`${field}\``, 'a finite number, 0 or more', row[field])
  return undefined
}

const faultOfRow = (name: string, takes: string, got: number): RangeError =>
  new RangeError(`routing.publish: ${name} must be ${takes}, got ${got}.`)

/** The error of an invalid pause. `faultOfPause({ offer, until: Infinity })?.message` */
export const faultOfPause = ({ until }: OfferPause): RangeError | undefined => faultOfTime('routing.pause: `until`', until)

/** The error of an invalid note of a conversation's reader. `faultOfReader({ ...note, tokens: -1 })?.message` */
export const faultOfReader = ({ tokens, at }: ReaderNote): RangeError | undefined =>
  isAmount(tokens)
    ? faultOfTime('routing.remember: `at`', at)
    : new RangeError(`routing.remember: \`tokens\` must be a whole number, 0 or more, got ${tokens}.`)

/** The error of invalid items. `faultOfItems([{ ...item, expiresAt: NaN }], 1_000, { at, latest })?.message` */
export function faultOfItems(items: readonly StoredItem[], maxBytes: number, { at, latest }: ItemTimes): RangeError | undefined {
  if (!isAmount(maxBytes)) return new RangeError(`items.put: \`maxBytes\` must be a whole number, 0 or more, got ${maxBytes}.`)
  for (const { expiresAt } of items) {
    const fault = faultOfTime('items.put: `expiresAt`', expiresAt)
    if (fault) return fault
  }
  return faultOfTime('items.put: `at`', at) ?? faultOfTime('items.put: `latest`', latest)
}

/** The error of an invalid renewal of items. `faultOfRenewal({ until: NaN, at })?.message` */
export const faultOfRenewal = ({ until, at }: ItemRenewal): RangeError | undefined =>
  faultOfTime('items.renew: `until`', until) ?? faultOfTime('items.renew: `at`', at)

const isAmount = (value: number | undefined): boolean => Number.isSafeInteger(value) && (value ?? -1) >= 0

const faultOfAmount = (name: string, value: number | undefined): RangeError | undefined =>
  isAmount(value)
    ? undefined
    : new RangeError(`${name} must be whole microdollars, 0 or more, got ${value}. Round up once before the call.`)

const faultOfTime = (name: string, value: number): RangeError | undefined =>
  Number.isSafeInteger(value) ? undefined : new RangeError(`${name} must be whole Unix milliseconds, got ${value}.`)
