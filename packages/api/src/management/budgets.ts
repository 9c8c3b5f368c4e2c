import { type Budget, budgetFields, fromWire, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { accepted, listed, pages, propagationOf } from './answers.ts'
import { reading, writing } from './rows.ts'

const budgetsPath = '/v1/workspaces/:workspace_id/budgets'
const budgetPath = `${budgetsPath}/:budget_id`
const newBudget = { fields: budgetFields, mode: 'create' } as const
const budgetChange = { fields: budgetFields, mode: 'update' } as const

export const budgetRoutes: readonly WorkspaceRoute[] = [
  {
    ...writing('POST'),
    path: budgetsPath,
    client: 'budgets.create',
    needs: ['budgets:write'],
    summary: 'Create a budget: a limit on what all keys of the workspace, or one key, may spend in a period.',
    body: 'CreateBudget',
    input: newBudget,
    reply: 'Budget',
    errors: ['state_precondition_failed'],
    handler: async (call, { budgets }) => accepted(budgetView(await budgets.create(fromWire(newBudget, call.body)))),
  },
  {
    ...reading,
    path: budgetsPath,
    client: 'budgets.list',
    needs: ['budgets:read'],
    summary: 'List the budgets, oldest first, including those of keys.',
    query: pages,
    reply: 'BudgetList',
    handler: (call, { budgets }) => listed(call, { list: budgets.list, toView: budgetView }),
  },
  {
    ...reading,
    path: budgetPath,
    client: 'budgets.get',
    needs: ['budgets:read'],
    summary: 'Get a budget and its remaining amount.',
    reply: 'Budget',
    handler: async (call, { budgets }) => json(budgetView(await budgets.get(budgetIdOf(call)))),
  },
  {
    ...writing('PATCH'),
    path: budgetPath,
    client: 'budgets.update',
    needs: ['budgets:write'],
    summary: 'Change a budget. The amount used so far stays the same.',
    body: 'UpdateBudget',
    input: budgetChange,
    reply: 'Budget',
    handler: async (call, { budgets }) => accepted(budgetView(await budgets.update(budgetIdOf(call), fromWire(budgetChange, call.body)))),
  },
  {
    ...writing('DELETE'),
    path: budgetPath,
    client: 'budgets.delete',
    needs: ['budgets:write'],
    summary: 'Delete a budget.',
    reply: 'Acknowledgement',
    async handler(call, { budgets }) {
      const { id } = await budgets.delete(budgetIdOf(call))
      return accepted({ id, propagation_status: propagationOf(call.gateway), message: 'The budget is removed.' })
    },
  },
]

const budgetIdOf = ({ params }: Call): string => params.budget_id ?? ''

const budgetView = (budget: Budget) => toReply(budgetFields, budget)
