import type { AnalyticsQuery } from '@signalbox/workspaces'
import { json } from '../json-reply.ts'
import { type QueryParameter, timeOf } from '../query.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { listed, pagesByAnyId } from './answers.ts'
import { exportRequests } from './export.ts'
import { loggedRequestReply } from './replies/logged-request.ts'
import { replyOf } from './replies/reply-table.ts'
import { reading, reporting } from './rows.ts'

const requestsPath = '/v1/workspaces/:workspace_id/analytics'

export const filters: readonly QueryParameter[] = [
  { name: 'from', description: 'Start time, inclusive. Default: 30 days before `to`.', date: true },
  { name: 'to', description: 'End time, exclusive. Default: now.', date: true },
  { name: 'model', description: 'Only this model, by its canonical id.' },
  { name: 'provider', description: 'Only requests that this provider answered.' },
  { name: 'api_key_id', description: 'Only requests with this API key.' },
  { name: 'user', description: 'Only requests of this user of the app. Cannot be combined with `api_key_id`.' },
  { name: 'tag', description: 'Only requests with this tag.' },
]

export const requestRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: `${requestsPath}/requests`,
    client: 'analytics.requests',
    needs: ['usage:read'],
    summary: 'List the request log, newest first. It never contains prompts or responses.',
    query: [...filters, ...pagesByAnyId],
    reply: 'RequestLog',
    handler: (call, { analytics }) =>
      listed(call, { list: page => analytics.requests({ ...queryOf(call), ...page }), toView: row => replyOf(loggedRequestReply, row) }),
  },
  {
    ...reading,
    path: `${requestsPath}/requests/:request_id`,
    client: 'analytics.request',
    needs: ['usage:read'],
    summary: 'Get one request of the log, by its `X-Request-ID`.',
    reply: 'LoggedRequest',
    handler: async (call, { analytics }) => json(replyOf(loggedRequestReply, await analytics.request(call.params.request_id ?? ''))),
  },
  {
    ...reading,
    path: `${requestsPath}/requests/:request_id/routing`,
    client: 'analytics.routing',
    needs: ['routing:read'],
    summary:
      'Explain how a request was routed: the candidates with their scores, the excluded offers with the reasons, and the result of each attempt.',
    reply: 'RoutingEvidence',
    errors: ['resource_not_found', 'routing_evidence_not_kept'],
    handler: async (call, { analytics }) => json(await analytics.routing(call.params.request_id ?? '')),
  },
  {
    ...reporting,
    path: `${requestsPath}/export`,
    client: 'analytics.export',
    needs: ['usage:read'],
    summary: 'Export the request log as CSV, newest first, up to the number of rows that the response headers state.',
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
