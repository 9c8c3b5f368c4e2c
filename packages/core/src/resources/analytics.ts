import type { Endpoints } from './endpoint.ts'

/** The filters of requests by time, model, provider, key, user and tag. */
const analyticsFilters = {
  from: { kind: 'milliseconds', description: 'Start time, inclusive. Default: 30 days before `to`.' },
  to: { kind: 'milliseconds', description: 'End time, exclusive. Default: now.' },
  model: { kind: 'string', description: 'Only this model, by its canonical id.' },
  provider: { kind: 'string', description: 'Only requests that this provider answered.' },
  apiKeyId: { kind: 'string', description: 'Only requests with this API key.' },
  user: { kind: 'string', description: 'Only requests of this user of the app. Cannot be combined with `api_key_id`.' },
  tag: { kind: 'string', description: 'Only requests with this tag.' },
} as const

/** Maximum series in a response. */
export const maxSeries = 100

/** The methods of `analytics` that have one result. */
export const analyticsEndpoints = {
  summary: {
    route: ['GET', '/analytics/summary'],
    scopes: ['usage:read'],
    summary: 'Get the number, outcomes, cost and latency of requests.',
    options: analyticsFilters,
    reply: 'AnalyticsSummary',
    errors: ['concurrent_requests_exceeded'],
  },
  trends: {
    route: ['GET', '/analytics/trends'],
    scopes: ['usage:read'],
    summary: 'Get usage over time by hour or day (UTC), as one series or one for each group. Intervals without requests are omitted.',
    options: {
      ...analyticsFilters,
      interval: { kind: 'enum', values: ['hour', 'day'], description: 'Default: `day`.' },
      groupBy: {
        kind: 'enum',
        values: ['model', 'provider', 'key', 'user', 'tag'],
        wireValues: { key: 'api_key' },
        description: 'How to group the requests. A request counts once for each of its tags. Default: one series for all requests.',
      },
      top: {
        kind: 'integer',
        min: 1,
        max: maxSeries,
        description: `Maximum number of series; those with the highest cost are returned. Default: ${maxSeries}.`,
      },
    },
    reply: 'AnalyticsTrends',
    errors: ['concurrent_requests_exceeded'],
  },
  requests: {
    route: ['GET', '/analytics/requests'],
    scopes: ['usage:read'],
    summary: 'List the request log, newest first. It never contains prompts or responses.',
    options: analyticsFilters,
    reply: 'LoggedRequest',
    page: { name: 'RequestLog', description: 'A page of the request log.', anyId: true },
  },
  request: {
    route: ['GET', '/analytics/requests/:request_id'],
    id: true,
    scopes: ['usage:read'],
    summary: 'Get one request of the log, by its `X-Request-ID`.',
    reply: 'LoggedRequest',
  },
  routing: {
    route: ['GET', '/analytics/requests/:request_id/routing'],
    id: true,
    scopes: ['routing:read'],
    summary:
      'Explain how a request was routed: the candidates with their scores, the excluded offers with the reasons, and the result of each attempt.',
    reply: 'RoutingEvidence',
    errors: ['resource_not_found', 'routing_evidence_not_kept'],
  },
  count: { options: analyticsFilters },
} as const satisfies Endpoints
