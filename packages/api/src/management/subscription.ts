import type { Subscription } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { WorkspaceRoute } from '../routes.ts'
import { dateTime } from './answers.ts'
import { reading } from './rows.ts'

export const subscriptionRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: '/v1/workspaces/:workspace_id/subscription',
    needs: ['billing:read'],
    summary: 'Tell the plan of the workspace.',
    reply: 'Subscription',
    handler: async (_, { subscription }) => json(view(await subscription.get())),
  },
]

const view = ({ plan, status, byokMonthlyRequestCap, currentPeriodStart, currentPeriodEnd }: Subscription) => ({
  plan,
  status,
  byok_monthly_request_cap: byokMonthlyRequestCap ?? null,
  current_period_start: dateTime(currentPeriodStart),
  current_period_end: dateTime(currentPeriodEnd),
})

export const subscriptionSchemas = () => ({
  Subscription: z.object({
    plan: z.string(),
    status: z.enum(['active', 'past_due', 'canceled']),
    byok_monthly_request_cap: z.int().nullable().meta({ description: 'null: any number.' }),
    current_period_start: z.iso.datetime(),
    current_period_end: z.iso.datetime(),
  }),
})
