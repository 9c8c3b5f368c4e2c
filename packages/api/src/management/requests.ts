import type { AnalyticsQuery } from '@signalbox/core/management'
import { json } from '../json-reply.ts'
import { type QueryParameter, timeOf } from '../query.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { listed, pagesByAnyId } from './answers.ts'
import { exportRequests } from './export.ts'
import { requestView } from './request-view.ts'
import { reading } from './rows.ts'

const requestsPath = '/v1/workspaces/:workspace_id/analytics'

export const filters: readonly QueryParameter[] = [
  { name: 'from', description: 'Since this time, which is included. Default: 30 days before `to`.', date: true },
  { name: 'to', description: 'Before this time. Default: now.', date: true },
  { name: 'model', description: 'Only this model, by its canonical id.' },
  { name: 'provider', description: 'Only what this provider answered.' },
  { name: 'api_key_id', description: 'Only what was asked with this key.' },
  { name: 'user', description: 'Only what this user of the app asked. Not beside `api_key_id`.' },
  { name: 'tag', description: 'Only what has this tag.' },
]

export const requestRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: `${requestsPath}/requests`,
    client: 'analytics.requests',
    needs: ['usage:read'],
    summary: 'List the request log, newest first. It never holds what was asked or answered.',
    query: [...filters, ...pagesByAnyId],
    reply: 'RequestLog',
    handler: (call, { analytics }) =>
      listed(call, { list: page => analytics.requests({ ...queryOf(call), ...page }), toView: requestView }),
  },
  {
    ...reading,
    path: `${requestsPath}/requests/:request_id`,
    client: 'analytics.request',
    needs: ['usage:read'],
    summary: 'Look up one request, by what `X-Request-ID` said.',
    reply: 'LoggedRequest',
    handler: async (call, { analytics }) => json(requestView(await analytics.request(call.params.request_id ?? ''))),
  },
  {
    ...reading,
    path: `${requestsPath}/requests/:request_id/routing`,
    client: 'analytics.routing',
    needs: ['routing:read'],
    summary:
      'Tell why a request went where it did: who could be asked, by what numbers, who was left out, and what became of each attempt.',
    reply: 'RoutingEvidence',
    errors: ['resource_not_found', 'routing_evidence_not_kept'],
    handler: async (call, { analytics }) => json(await analytics.routing(call.params.request_id ?? '')),
  },
  {
    ...reading,
    path: `${requestsPath}/export`,
    client: 'analytics.export',
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
    ...(query.user !== undefined && { user: query.user }),
    ...(query.tag !== undefined && { tag: query.tag }),
  }
}
