import { GatewayError } from '../errors/gateway-error.ts'
import { checkOptionTable, type OptionTableOf } from '../errors/option-table.ts'
import { budgetFields } from '../resources/budget.ts'
import type { CallerBudget } from '../runtime/ports.ts'
import type { Caller } from './caller.ts'
import type { BudgetBody, CallLimits } from './kinds.ts'
import type { WorkspacePolicies } from './workspace-policy.ts'

/** A user of the app that embeds the gateway, known by the app's own sign-in and not by an API key. */
export interface EndUser {
  /** The app's id of the user, 1 to 200 characters. Usage is counted under `user:` and this id, where it is counted by API key. */
  readonly user: string
  /** What the user may do. Default: `['inference:invoke']`. */
  readonly scopes?: readonly string[]
  /** Limits of this user, beside those of the workspace. Default: those of the gateway for a key. */
  readonly limits?: CallLimits
  /** What the user may spend, beside the credit and the budgets of the workspace. At most 8. */
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
  scopes: 'list',
  limits: callLimitsTable,
  budgets: 'list',
}
const budgetTable: OptionTableOf<EndUserBudget> = { limit: 'number', period: 'text', group: 'text', includeByok: 'flag' }
const periods: readonly string[] = budgetFields.period.values
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
      message: `There is no workspace "${workspaceId.slice(0, 100)}". Make it first, with workspaces.create.`,
    })
  const { workspace } = policy
  return {
    keyId: `user:${user.user}`,
    keyName: user.user,
    keyPrefix: '',
    workspaceId,
    workspaceName: workspace.body.name,
    billing: workspace.body.billing,
    scopes: new Set(user.scopes ?? defaultScopes),
    createdAt: workspace.createdAt,
    ...(user.limits && { limits: user.limits }),
    ...(user.budgets && { budgets: user.budgets.map(budget => callerBudgetOf(budget, workspaceId, user)) }),
  }
}

/** `endUserCaller` for a user that names its workspace. */
export const callerOfUser = (policies: Pick<WorkspacePolicies, 'of'>, { workspace, ...user }: EndUserOf): Promise<Caller> =>
  endUserCaller(policies, workspace, user)

/** Ids are escaped, so that no two users and groups of any workspaces share an account. */
function callerBudgetOf(
  { limit, period = 'month', group, includeByok = false }: EndUserBudget,
  workspaceId: string,
  { user }: EndUser,
): CallerBudget {
  const who = group === undefined ? `user:${encodeURIComponent(user)}` : `group:${encodeURIComponent(group)}`
  return {
    id: `${encodeURIComponent(workspaceId)}:${who}`,
    body: { name: group ?? user, limit, period, enforce: true, includeByok, alertAt: [] },
  }
}

function checkEndUser(user: EndUser): void {
  checkOptionTable({ call: 'end user' }, user ?? null, endUserTable)
  const { user: name, limits, budgets = [] } = user
  if (!isName(name)) throw unusable('user', `1 to ${maxName} characters without a lone surrogate`)
  for (const [limit, value] of Object.entries(limits ?? {}))
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) throw unusable(`limits.${limit}`, 'a whole number, 1 or more')
  if (budgets.length > maxBudgets) throw unusable('budgets', `at most ${maxBudgets} budgets`)
  for (const [at, budget] of budgets.entries()) {
    const option = `budgets[${at}]`
    checkOptionTable({ call: 'end user', option }, budget ?? null, budgetTable)
    const { limit, period = 'month', group = name } = budget
    if (!Number.isSafeInteger(limit) || limit < 0 || limit > maxLimit) throw unusable(`${option}.limit`, 'whole microdollars, as in usd(5)')
    if (!periods.includes(period)) throw unusable(`${option}.period`, periods.join(', '))
    if (!isName(group)) throw unusable(`${option}.group`, `1 to ${maxName} characters without a lone surrogate`)
  }
}

const isName = (name: unknown): boolean => typeof name === 'string' && name !== '' && name.length <= maxName && name.isWellFormed()

const unusable = (option: string, takes: string): TypeError =>
  new TypeError(`end user: \`${option}\` has another value than it takes: ${takes}.`)
