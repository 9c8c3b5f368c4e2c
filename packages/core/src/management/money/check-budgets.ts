import { isActive } from '../../access/ancestors.ts'
import type { BudgetBody } from '../../access/kinds.ts'
import type { Records } from '../../access/records.ts'
import { mostOfAKind } from '../../access/terms.ts'
import { GatewayError } from '../../errors/gateway-error.ts'
import { absent, checkText, microdollarsOf, wrong } from '../check.ts'
import type { ManagementPorts } from '../ports.ts'

export interface NewBudget {
  readonly name: string
  /** Default: `api_key` where one is named, else `workspace`. */
  readonly scope?: BudgetBody['scope']
  readonly apiKeyId?: string
  /** Of UTC; weeks begin on Monday. Default: `month`. */
  readonly period?: BudgetBody['period']
  /** Above 0, to the microdollar. */
  readonly limitUsd: number
  /** Default: true. False: it only watches. */
  readonly enforce?: boolean
  /** What the workspace pays to its providers itself counts too, by the list price. Default: false. */
  readonly includeByok?: boolean
  /** Shares of the limit, above 0 and up to 1; at most 10. Default: none. */
  readonly alertAt?: readonly number[]
}

/** What it counts, and for how long, is for ever. */
export type BudgetChange = Partial<Omit<NewBudget, 'scope' | 'apiKeyId' | 'period'>>

const mostAlerts = 10

/** `place`: where in a request it stands. */
export function bodyOf(input: NewBudget, place = ''): BudgetBody {
  const { name, apiKeyId, scope = apiKeyId === undefined ? 'workspace' : 'api_key', period = 'month' } = input
  checkScope(scope, apiKeyId)
  const blank = {
    name,
    scope,
    ...(apiKeyId !== undefined && { apiKeyId }),
    period,
    limit: 0,
    enforce: true,
    includeByok: false,
    alertAt: [],
  }
  return withChange(blank, input, place)
}

export function withChange(body: BudgetBody, change: BudgetChange, place = ''): BudgetBody {
  const { name = body.name, limitUsd, enforce = body.enforce, includeByok = body.includeByok, alertAt } = change
  checkText('name', name)
  return {
    ...body,
    name,
    limit: limitUsd === undefined ? body.limit : microdollarsOf(`${place}limit_usd`, limitUsd),
    enforce,
    includeByok,
    alertAt: alertAt === undefined ? body.alertAt : sharesOf(alertAt),
  }
}

function sharesOf(shares: readonly number[]): readonly number[] {
  const odd = shares.find(share => !(share > 0 && share <= 1))
  if (odd !== undefined) throw wrong('alert_at', odd, 'shares of the limit, above 0 and up to 1')
  const once = [...new Set(shares)].sort((a, b) => a - b)
  if (once.length > mostAlerts) throw wrong('alert_at', `${once.length} shares`, `at most ${mostAlerts}`)
  return once
}

function checkScope(scope: BudgetBody['scope'], apiKeyId: string | undefined): void {
  if (scope === 'workspace' && apiKeyId !== undefined)
    throw wrong('api_key_id', apiKeyId, 'nothing where `scope` is "workspace"; of one key, `scope` is "api_key"')
  if (scope === 'api_key' && apiKeyId === undefined)
    throw new GatewayError('missing_required_parameter', {
      message: '`api_key_id` is missing. A budget whose `scope` is "api_key" names the key that it counts.',
      param: 'api_key_id',
    })
}

/** Throws where the workspace has as many budgets as it can have. */
export async function checkRoom(records: Records, workspaceId: string): Promise<void> {
  const there = await records.list('budget', { workspaceId, limit: mostOfAKind })
  if (there.length >= mostOfAKind)
    throw new GatewayError('state_precondition_failed', {
      message: `This workspace has ${mostOfAKind} budgets, as many as it can have. Delete one first.`,
    })
}

/** Throws where the workspace has no such key, or it works no more. */
export async function checkKey({ records, clock }: ManagementPorts, workspaceId: string, id: string): Promise<void> {
  const key = await records.find('key', workspaceId, id)
  if (!key || key.group === 'system') throw absent('API key', id)
  if (!isActive(key.body, clock.now()))
    throw new GatewayError('state_precondition_failed', {
      message: `The API key "${id}" is revoked or has expired, and takes no budget. Name an active one.`,
      param: 'api_key_id',
    })
}
