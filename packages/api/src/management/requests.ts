import type { AnalyticsQuery } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import { type QueryParameter, timeOf } from '../query.ts'
import type { Call, WorkspaceRoute } from '../routes.ts'
import { listed, pageSchema, pages } from './answers.ts'
import { exportRequests } from './export.ts'
import { requestView } from './request-view.ts'
import { reading } from './rows.ts'

const path = '/v1/workspaces/:workspace_id/analytics'

export const filters: readonly QueryParameter[] = [
  { name: 'from', description: 'Since this time, which is included. Default: 30 days before `to`.', date: true },
  { name: 'to', description: 'Before this time. Default: now.', date: true },
  { name: 'model', description: 'Only this model, by its canonical id.' },
  { name: 'provider', description: 'Only what this provider answered.' },
  { name: 'api_key_id', description: 'Only what was asked with this key.' },
]

export const requestRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: `${path}/requests`,
    needs: ['usage:read'],
    summary: 'List the request log, newest first. It never holds what was asked or answered.',
    query: [...filters, ...pages],
    reply: 'RequestLog',
    handler: (call, { analytics }) => listed(call, { list: page => analytics.requests({ ...queryOf(call), ...page }), view: requestView }),
  },
  {
    ...reading,
    path: `${path}/requests/:request_id`,
    needs: ['usage:read'],
    summary: 'Look up one request, by what `X-Request-ID` said.',
    reply: 'LoggedRequest',
    handler: async (call, { analytics }) => json(requestView(await analytics.request(call.params.request_id ?? ''))),
  },
  {
    ...reading,
    path: `${path}/requests/:request_id/routing`,
    needs: ['routing:read'],
    summary:
      'Tell why a request went where it did: who could be asked, by what numbers, who was left out, and what became of each attempt.',
    reply: 'RoutingEvidence',
    errors: ['resource_not_found', 'routing_evidence_not_kept'],
    handler: async (call, { analytics }) => json(await analytics.routing(call.params.request_id ?? '')),
  },
  {
    ...reading,
    path: `${path}/export`,
    needs: ['usage:read'],
    summary: 'The request log as CSV, newest first, up to a number of rows that the headers tell.',
    query: [...filters, { name: 'format', description: 'Default: `csv`.', values: ['csv'] }],
    reply: 'RequestExport',
    media: 'text/csv',
    replyHeaders: ['X-Export-Row-Count', 'X-Export-Row-Limit', 'X-Export-Truncated'],
    handler: (call, { analytics }) => exportRequests(call, analytics, queryOf(call)),
  },
]

export function queryOf({ query }: Call): AnalyticsQuery {
  const [from, to] = [timeOf(query.from), timeOf(query.to)]
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(query.model !== undefined && { model: query.model }),
    ...(query.provider !== undefined && { provider: query.provider }),
    ...(query.api_key_id !== undefined && { apiKeyId: query.api_key_id }),
  }
}

export const requestSchemas = () => ({
  LoggedRequest: loggedRequest(),
  RequestLog: pageSchema(loggedRequest()),
  RoutingEvidence: z.looseObject({
    detail: z.enum(['full', 'summary']),
    excluded_counts: z.record(z.string(), z.int()),
    seed: z.number(),
    strategy: z.unknown(),
    order: z.array(z.string()),
    excluded: z.array(z.looseObject({ provider: z.string(), reason: z.string() })),
    decisions: z.array(z.looseObject({ chosen: z.string() })),
    attempts: z.array(z.looseObject({})),
    counterfactuals: z.looseObject({}).nullable(),
  }),
  RequestExport: z
    .string()
    .meta({ description: 'One line of names, then one for each request. Cells that a spreadsheet would run begin with a quote.' }),
})

export const tokens = () =>
  z.object({ input: z.int(), output: z.int(), total: z.int(), cached: z.int(), cache_write: z.int(), reasoning: z.int() })

const loggedRequest = () =>
  z.object({
    id: z.string(),
    at: z.iso.datetime(),
    api_key_id: z.string(),
    model_requested: z.string(),
    model: z.string(),
    provider: z.string().nullable(),
    strategy: z.string(),
    status: z.enum(['ok', 'incomplete', 'error', 'rate_limited', 'abandoned', 'interrupted']),
    error_code: z.string().nullable(),
    stream: z.boolean(),
    byok: z.boolean(),
    tokens: tokens(),
    estimated: z.boolean().meta({ description: 'The provider did not say, so we counted.' }),
    cost_usd: z.number(),
    byok_cost_usd: z.number(),
    ttft_ms: z.number().nullable(),
    duration_ms: z.number(),
    attempts: z.int(),
    warnings: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
  })
