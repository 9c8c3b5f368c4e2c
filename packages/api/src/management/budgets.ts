import type { Budget } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { Call, WorkspaceRoute } from '../routes.ts'
import { accepted, dateTime, listed, pageSchema, pages, propagationOf } from './answers.ts'
import { bodyOf } from './fields.ts'
import { reading, writing } from './rows.ts'

const all = '/v1/workspaces/:workspace_id/budgets'
const one = `${all}/:budget_id`

export const budgetRoutes: readonly WorkspaceRoute[] = [
  {
    ...writing('POST'),
    path: all,
    needs: ['budgets:write'],
    summary: 'Limit what all keys of the workspace, or one of them, may spend in a period.',
    body: 'CreateBudget',
    reply: 'Budget',
    errors: ['state_precondition_failed'],
    handler: async (call, { budgets }) => accepted(view(await budgets.create(bodyOf<typeof createBudget>(call)))),
  },
  {
    ...reading,
    path: all,
    needs: ['budgets:read'],
    summary: 'List the budgets in the order of their making, those of keys too.',
    query: pages,
    reply: 'BudgetList',
    handler: (call, { budgets }) => listed(call, { list: budgets.list, view }),
  },
  {
    ...reading,
    path: one,
    needs: ['budgets:read'],
    summary: 'Look up one budget, and what is left of it.',
    reply: 'Budget',
    handler: async (call, { budgets }) => json(view(await budgets.get(idOf(call)))),
  },
  {
    ...writing('PATCH'),
    path: one,
    needs: ['budgets:write'],
    summary: 'Change a budget. What was used of it stays used.',
    body: 'UpdateBudget',
    immutable: ['scope', 'api_key_id', 'period'],
    reply: 'Budget',
    handler: async (call, { budgets }) => accepted(view(await budgets.update(idOf(call), bodyOf<typeof updateBudget>(call)))),
  },
  {
    ...writing('DELETE'),
    path: one,
    needs: ['budgets:write'],
    summary: 'Remove a budget.',
    reply: 'Acknowledgement',
    async handler(call, { budgets }) {
      const { id } = await budgets.delete(idOf(call))
      return accepted({ id, propagation_status: propagationOf(call.gateway), message: 'The budget is removed.' })
    },
  },
]

const idOf = ({ params }: Call): string => params.budget_id ?? ''

const view = (budget: Budget) => ({
  id: budget.id,
  workspace_id: budget.workspaceId,
  name: budget.name,
  scope: budget.scope,
  api_key_id: budget.apiKeyId ?? null,
  period: budget.period,
  limit_usd: budget.limitUsd,
  enforce: budget.enforce,
  include_byok: budget.includeByok,
  alert_at: budget.alertAt,
  used_usd: budget.usedUsd,
  remaining_usd: budget.remainingUsd,
  resets_at: dateTime(budget.resetsAt) ?? null,
  created_at: dateTime(budget.createdAt),
})

export const budgetSchemas = () => ({
  Budget: budget(),
  BudgetList: pageSchema(budget()),
  CreateBudget: createBudget(),
  UpdateBudget: updateBudget(),
})

const name = () => z.string().min(1).max(255)
const scope = () => z.enum(['workspace', 'api_key'])
const period = () => z.enum(['day', 'week', 'month', 'total']).meta({ description: 'Of UTC; weeks begin on Monday.' })
const limit = () => z.number().min(0.000_001).max(1_000_000_000)
const enforce = () => z.boolean().meta({ description: 'false: it only watches.' })
const includeByok = () =>
  z.boolean().meta({ description: 'What is paid to providers with keys of the workspace counts too, by the list price.' })
const alertAt = () => z.array(z.number().gt(0).max(1)).max(10).meta({ description: 'Shares of the limit.' })

const createBudget = () =>
  z.strictObject({
    name: name(),
    scope: scope().optional().meta({ description: 'Default: `api_key` where one is named, else `workspace`.' }),
    api_key_id: z.string().optional(),
    period: period().optional().meta({ description: 'Default: `month`.' }),
    limit_usd: limit(),
    enforce: enforce().optional(),
    include_byok: includeByok().optional(),
    alert_at: alertAt().optional(),
  })

const updateBudget = () =>
  z.strictObject({
    name: name().optional(),
    limit_usd: limit().optional(),
    enforce: enforce().optional(),
    include_byok: includeByok().optional(),
    alert_at: alertAt().optional(),
  })

const budget = () =>
  z.object({
    id: z.uuid(),
    workspace_id: z.string(),
    name: z.string(),
    scope: scope(),
    api_key_id: z.string().nullable(),
    period: period(),
    limit_usd: z.number(),
    enforce: enforce(),
    include_byok: includeByok(),
    alert_at: alertAt(),
    used_usd: z.number().meta({ description: 'In the period that is now.' }),
    remaining_usd: z.number(),
    resets_at: z.iso.datetime().nullable().meta({ description: 'When the next period begins. null: never.' }),
    created_at: z.iso.datetime(),
  })
