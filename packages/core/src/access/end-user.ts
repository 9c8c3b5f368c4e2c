import { checkOptionTable, type OptionTableOf } from '@signalbox/storage/option-table'
import { GatewayError } from '../errors/gateway-error.ts'
import { budgetFields } from '../resources/budget.ts'
import { scopes as allScopes } from '../resources/scopes.ts'
import type { CallerBudget } from '../runtime/ports.ts'
import type { Caller } from './caller.ts'
import type { BudgetBody, CallLimits } from './kinds.ts'
import type { TypedRecord } from './records.ts'
import { isTag, maxTagLength, maxTags } from './tags.ts'
import type { WorkspacePolicies } from './workspace-policy.ts'

/** A user of the app that embeds the gateway, known by the app's own sign-in and not by an API key. */
export interface EndUser {
  /** The app's id of the user, 1 to 200 characters without control characters. Usage is counted under `user:` and this id, where it is counted by API key. */
  readonly user: string
  /** Names that usage is counted by, as in `plan:pro`: at most 8, each of 1 to 64 characters without a comma. */
  readonly tags?: readonly string[]
  /** What the user may do. Default: `['inference:invoke']`. */
  readonly scopes?: readonly string[]
  /** Limits of this user, beside those of the workspace. Default: those of the gateway for a key. */
  readonly limits?: CallLimits
  /** What the user may spend, beside the credit and the budgets of the workspace. At most 8; of two that count the same the lower holds. */
  readonly budgets?: readonly EndUserBudget[]
}

/** A limit on what a user, or all users of a group, may spend in a period. */
export interface EndUserBudget {
  /** Microdollars, as in `usd(5)`. */
  readonly limit: number
  /** Of UTC; weeks begin on Monday. Default: `month`. */
  readonly period?: BudgetBody['period']
  /** The group that counts together, as in `team:research`. Default: this user alone. */
  readonly group?: string
  /** Requests with provider keys of the workspace count too. Default: false. */
  readonly includeByok?: boolean
}

/** An end user and the workspace that pays. */
export interface EndUserOf extends EndUser {
  readonly workspace: string
}

/** What limits of calls take. */
export const callLimitsTable: OptionTableOf<CallLimits> = {
  requestsPerMinute: 'number',
  tokensPerMinute: 'number',
  concurrentRequests: 'number',
}

const endUserTable: OptionTableOf<EndUser> = {
  user: 'text',
  tags: 'list',
  scopes: 'list',
  limits: callLimitsTable,
  budgets: 'list',
}
const budgetTable: OptionTableOf<EndUserBudget> = { limit: 'number', period: 'text', group: 'text', includeByok: 'flag' }
const periods: readonly string[] = budgetFields.period.values
const knownScopes: readonly string[] = allScopes
const maxBudgets = 8
const maxName = 200
/** Microdollars. */
const maxLimit = 1e15
const defaultScopes = ['inference:invoke']

/**
 * The caller that stands for an end user.
 *
 * @throws {TypeError} A field is unknown or has a value that it does not take.
 * @throws `resource_not_found` (404): there is no such workspace.
 */
export async function endUserCaller(policies: Pick<WorkspacePolicies, 'of'>, workspaceId: string, user: EndUser): Promise<Caller> {
  checkEndUser(user)
  const policy = await policies.of(workspaceId)
  if (!policy)
    throw new GatewayError('resource_not_found', {
      message: `There is no workspace "${workspaceId.slice(0, 100)}". Create it first with \`workspaces.create\`.`,
    })
  return userCaller(policy.workspace, user)
}

/** The caller that stands for a user whose fields are known to be right. */
export function userCaller(workspace: TypedRecord<'workspace'>, user: EndUser): Caller {
  return {
    keyId: keyIdOfUser(user.user),
    keyName: user.user,
    keyPrefix: '',
    workspaceId: workspace.id,
    workspaceName: workspace.body.name,
    billing: workspace.body.billing,
    scopes: new Set(user.scopes ?? defaultScopes),
    createdAt: workspace.createdAt,
    ...(user.tags && { tags: user.tags }),
    isEndUser: true,
    ...(user.limits && { limits: user.limits }),
    ...(user.budgets && { budgets: callerBudgetsOf(user.budgets, workspace.id, user) }),
  }
}

/** The id under which the usage of an end user is counted, where it is counted by API key. No key has such an id. */
export const keyIdOfUser = (user: string): string => `${userPrefix}${user}`
/** What the ids of end users begin with, where those of API keys stand. */
export const userPrefix = 'user:'

/** What a message calls the caller of an id, as in "This user lacks …". */
export const nounOf = (keyId: string): 'user' | 'key' => (keyId.startsWith(userPrefix) ? 'user' : 'key')

/** `endUserCaller` for a user that names its workspace. */
export const callerOfUser = (policies: Pick<WorkspacePolicies, 'of'>, { workspace, ...user }: EndUserOf): Promise<Caller> =>
  endUserCaller(policies, workspace, user)

/** An account has one limit: of several budgets that count the same, the lowest. */
function callerBudgetsOf(budgets: readonly EndUserBudget[], workspaceId: string, user: EndUser): readonly CallerBudget[] {
  const byAccount = new Map<string, CallerBudget>()
  for (const budget of budgets) {
    const found = callerBudgetOf(budget, workspaceId, user)
    const before = byAccount.get(found.id)
    if (!before || found.body.limit < before.body.limit) byAccount.set(found.id, found)
  }
  return [...byAccount.values()]
}

/**
 * Ids are escaped, so that no two users and groups of any workspaces share an account. They tell the period and what counts, since
 * a day, a week and a month may begin on the same date.
 */
function callerBudgetOf(
  { limit, period = 'month', group, includeByok = false }: EndUserBudget,
  workspaceId: string,
  { user }: EndUser,
): CallerBudget {
  const who = group === undefined ? `user:${encodeURIComponent(user)}` : `group:${encodeURIComponent(group)}`
  return {
    id: `${encodeURIComponent(workspaceId)}:${who}:${period}${includeByok ? '+byok' : ''}`,
    ...(group !== undefined && { isGroup: true }),
    body: { name: group ?? user, limit, period, enforce: true, includeByok, alertAt: [] },
  }
}

function checkEndUser(user: EndUser): void {
  checkOptionTable({ call: 'end user' }, user ?? null, endUserTable)
  const { user: name, tags = [], scopes = [], limits, budgets = [] } = user
  if (!isName(name)) throw unusable('user', nameForm)
  if (tags.length > maxTags || !tags.every(isTag))
    throw unusable('tags', `at most ${maxTags} names, each of 1 to ${maxTagLength} characters without a comma, or a space at its ends`)
  const unknown = scopes.find(scope => !knownScopes.includes(scope))
  if (unknown !== undefined) throw unusable('scopes', `${knownScopes.join(', ')}; got ${JSON.stringify(unknown)}`)
  for (const [limit, value] of Object.entries(limits ?? {}))
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) throw unusable(`limits.${limit}`, 'a whole number, 1 or more')
  if (budgets.length > maxBudgets) throw unusable('budgets', `at most ${maxBudgets} budgets`)
  for (const [at, budget] of budgets.entries()) {
    const option = `budgets[${at}]`
    checkOptionTable({ call: 'end user', option }, budget ?? null, budgetTable)
    const { limit, period = 'month', group = name } = budget
    if (!Number.isSafeInteger(limit) || limit < 0 || limit > maxLimit) throw unusable(`${option}.limit`, 'whole microdollars, as in usd(5)')
    if (!periods.includes(period)) throw unusable(`${option}.period`, periods.join(', '))
    if (!isName(group)) throw unusable(`${option}.group`, nameForm)
  }
}

const nameForm = `1 to ${maxName} characters, without control characters and lone surrogates`
/** Databases refuse some control characters, and logs are read by lines. */
const isName = (name: unknown): boolean =>
  typeof name === 'string' && name !== '' && name.length <= maxName && name.isWellFormed() && !/\p{Cc}/u.test(name)

const unusable = (option: string, takes: string): TypeError => new TypeError(`end user: \`${option}\` is not valid; it takes ${takes}.`)
