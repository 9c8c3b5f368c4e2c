import { GatewayError } from '@signalbox/dialects/errors'
import { checkOptionTable, type OptionTableOf } from '@signalbox/storage/option-table'
import type { BudgetBody } from '../resources/budget.ts'
import { budgetFields } from '../resources/budget.ts'
import { scopes as allScopes } from '../resources/scopes.ts'
import type { CallerBudget } from '../runtime/ports.ts'
import type { Caller } from './caller.ts'
import type { CallLimits } from './kinds.ts'
import type { TypedRecord } from './records.ts'
import { isTag, maxTagLength, maxTags } from './tags.ts'
import type { WorkspacePolicies } from './workspace-policy.ts'

/** A user of the app that embeds the gateway, identified by the app's own sign-in instead of an API key. */
export interface EndUser {
  /** The app's id for the user, 1 to 200 characters without control characters. In usage by API key it appears as `user:` and this id. */
  readonly user: string
  /** Tags that usage is grouped by, such as `plan:pro`: at most 8, each of 1 to 64 characters without a comma. */
  readonly tags?: readonly string[]
  /** What the user may do. Default: `['inference:invoke']`. */
  readonly scopes?: readonly string[]
  /** Limits of this user, in addition to those of the workspace. Default: the gateway's limits for a key. */
  readonly limits?: CallLimits
  /**
   * Budgets of the user, in addition to the credit and budgets of the workspace. At most 8; of two with the same account the lower applies.
   */
  readonly budgets?: readonly EndUserBudget[]
  /** Whether the user may name what is stored at a provider, such as files, where keys of its workspace may. Default: false. */
  readonly providerStorage?: boolean
}

/** A spending limit for a user, or for all users of a group together, in a period. */
export interface EndUserBudget {
  /** Microdollars, as in `usd(5)`. */
  readonly limit: number
  /** In UTC; weeks begin on Monday. Default: `month`. */
  readonly period?: BudgetBody['period']
  /** The group that shares this budget, such as `team:research`. Default: this user alone. */
  readonly group?: string
  /** Whether requests with provider keys of the workspace count too. Default: false. */
  readonly includeByok?: boolean
}

/** An end user and the workspace that pays. */
export interface EndUserOf extends EndUser {
  readonly workspace: string
}

/** The options of `CallLimits`. */
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
  providerStorage: 'flag',
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
 * The caller that represents an end user.
 *
 * @throws {TypeError} A field is unknown or has an invalid value.
 * @throws `resource_not_found` (404): the workspace does not exist.
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

/** The caller that represents a user whose fields have been validated. */
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
    tags: user.tags,
    isEndUser: true,
    limits: user.limits,
    providerStorage: user.providerStorage || undefined,
    budgets: user.budgets ? callerBudgetsOf(user.budgets, workspace.id, user) : undefined,
  }
}

/** The id of an end user in usage by API key. No key has such an id. */
export const keyIdOfUser = (user: string): string => `${userPrefix}${user}`
/** The prefix of end users' ids, which appear in the place of API key ids. */
export const userPrefix = 'user:'

/** The noun for a caller's id in messages, as in "This user lacks …". */
export const nounOf = (keyId: string): 'user' | 'key' => (keyId.startsWith(userPrefix) ? 'user' : 'key')

/** `endUserCaller` for a user that names its workspace. */
export const callerOfUser = (policies: Pick<WorkspacePolicies, 'of'>, { workspace, ...user }: EndUserOf): Promise<Caller> =>
  endUserCaller(policies, workspace, user)

/** An account has one limit, so of several budgets with the same account the lowest is used. */
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
 * Ids are escaped, so that no two users or groups of any workspaces share an account. They include the period and what counts, because
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
    isGroup: group !== undefined || undefined,
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
/** Some databases reject control characters, and logs are read line by line. */
const isName = (name: unknown): boolean =>
  typeof name === 'string' && name !== '' && name.length <= maxName && name.isWellFormed() && !/\p{Cc}/u.test(name)

const unusable = (option: string, takes: string): TypeError => new TypeError(`end user: \`${option}\` is not valid; it takes ${takes}.`)
