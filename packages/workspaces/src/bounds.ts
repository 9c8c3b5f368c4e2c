import type { CallLimits, KeyBody, Kinds, SubscriptionBody, WorkspaceBody } from '@signalbox/core/access'
import type { BudgetBody, WorkspaceSettings } from '@signalbox/core/resources'
import type { RecordPut } from '@signalbox/storage'
import type { RecordRemoval } from '@signalbox/storage/records'

// Which record fields restrict what a key may do, and in which direction a change of each loosens the restriction. A new field of one
// of these records does not compile until it is listed here.

type Loosens<Value> = (before: Value | undefined, after: Value | undefined) => boolean
type Table<Body> = { readonly [Field in keyof Body]-?: Loosens<NonNullable<Body[Field]>> | 'bounds nothing' }

const free = 'bounds nothing'
const raised: Loosens<number> = (before, after) => before !== undefined && (after === undefined || after > before)
const switchedOff: Loosens<boolean> = (before, after) => before === true && after !== true
/** For lists of what is allowed. Absent: everything is. */
const widened: Loosens<readonly string[]> = (before, after) =>
  before !== undefined && (!after || after.some(name => !before.includes(name)))
/** For lists of what is forbidden, and of ancestors. */
const shortened: Loosens<readonly string[]> = (before, after) => before?.some(name => after?.includes(name) !== true) === true
const within =
  <Body extends object>(table: Table<Body>): Loosens<Body> =>
  (before, after) =>
    loosened(table, before, after).length > 0

const strictness = { any: 0, no_training: 1, zdr: 2 } as const

const callLimits: Table<CallLimits> = { requestsPerMinute: raised, tokensPerMinute: raised, concurrentRequests: raised }

const settings: Table<WorkspaceSettings> = {
  dataPolicyRequired: (before = 'any', after = 'any') => strictness[after] < strictness[before],
  allowedProviders: widened,
  blockedProviders: shortened,
  allowedModels: widened,
  logRetentionDays: free,
  hedgeMaxExtraCost: raised,
  ownKeysOnly: switchedOff,
}

const subscription: Table<SubscriptionBody> = {
  plan: free,
  status: free,
  byokMonthlyRequestCap: raised,
  currentPeriodStart: free,
  currentPeriodEnd: free,
}

const key: Table<KeyBody> = {
  name: free,
  // Another secret: rotating a key gives it to the key that rotates. `rotatedAt` may be the same twice.
  prefix: (before, after) => before !== after,
  scopes: widened,
  limits: within(callLimits),
  createdBy: free,
  ancestors: shortened,
  // The restrictions of the key no longer apply to the keys created with it.
  madeKept: (before, after) => before !== true && after === true,
  expiresAt: raised,
  revokedAt: (before, after) => before !== undefined && after === undefined,
  rotatedAt: free,
  previousSecretExpiresAt: free,
}

const budget: Table<BudgetBody> = {
  name: free,
  scope: (before, after) => before !== undefined && before !== after,
  apiKeyId: (before, after) => before !== undefined && before !== after,
  period: (before, after) => before !== undefined && before !== after,
  limit: raised,
  enforce: switchedOff,
  includeByok: switchedOff,
  alertAt: free,
}

const workspace: Table<WorkspaceBody> = {
  name: free,
  billing: (before, after) => before === 'prepaid' && after !== 'prepaid',
  settings: within(settings),
  // Requests may override these, so they restrict nothing.
  routing: free,
  limits: within(callLimits),
  autoReload: (before, after) =>
    after?.enabled === true && (before?.enabled !== true || after.target > before.target || after.threshold > before.threshold),
  subscription: within(subscription),
}

const tables = { key, budget, workspace } as const
export type BoundingKind = keyof typeof tables

export const isBounding = ({ kind }: Pick<RecordPut | RecordRemoval, 'kind'>): boolean => Object.hasOwn(tables, kind)

type Fields = Readonly<Record<string, Loosens<unknown> | 'bounds nothing'>>
type Values = Readonly<Record<string, unknown>>

/** The restricting fields that are looser after a change. `after` is absent if the record is removed. */
function loosened(table: object, before: object | undefined, after: object | undefined): readonly string[] {
  return Object.entries(table as Fields).flatMap(([field, loosens]) => {
    if (loosens === free) return []
    return loosens((before as Values | undefined)?.[field], (after as Values | undefined)?.[field]) ? [field] : []
  })
}

/** A record before and after a change. `after` is absent if it is removed. */
export interface Touched<Kind extends BoundingKind = BoundingKind> {
  readonly kind: Kind
  readonly id: string
  readonly before?: Kinds[Kind] | undefined
  readonly after?: Kinds[Kind] | undefined
}

/** The fields whose change lets keys do more. Removing a budget or a key loosens all of its restrictions. */
export const loosenedIn = ({ kind, before, after }: Touched): readonly string[] =>
  before && !after ? [kind] : loosened(tables[kind], before, after)

/** Whether a key stops sooner than before: it is revoked, or its expiry is set or brought forward. */
export function endsKey({ kind, before, after }: Touched): boolean {
  if (kind !== 'key' || !before || !after) return false
  const [was, is] = [before as KeyBody, after as KeyBody]
  return (was.revokedAt === undefined && is.revokedAt !== undefined) || (is.expiresAt ?? Infinity) < (was.expiresAt ?? Infinity)
}

/** Whether a key gets another secret, which the acting key is given. */
export const rotatesKey = ({ kind, before, after }: Touched): boolean =>
  kind === 'key' && before !== undefined && after !== undefined && (before as KeyBody).prefix !== (after as KeyBody).prefix

/** Whether any restriction changes, in either direction. Revoking a key does not count, nor that it rotates itself. */
export function changesBounds({ kind, before, after }: Touched, isItself: boolean): boolean {
  if (!before || !after) return true
  const fields = Object.entries(tables[kind] as Fields).filter(
    ([field, loosens]) => loosens !== free && field !== 'revokedAt' && !(isItself && field === 'prefix'),
  )
  return fields.some(
    ([field]) => JSON.stringify((before as unknown as Values)[field]) !== JSON.stringify((after as unknown as Values)[field]),
  )
}
