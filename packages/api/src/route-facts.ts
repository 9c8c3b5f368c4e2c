import type { Route } from './route.ts'

// Facts of a row that both the server and the OpenAPI document follow.

/**
 * Whether a route refuses query parameters that it does not have. SDKs, proxies and frameworks add their own parameters to inference
 * requests, and providers accept them.
 */
export function refusesUnknownParameters({ query, rate }: Pick<Route, 'query' | 'rate'>): boolean {
  return query !== undefined && rate !== 'inference'
}

/** Whether a route accepts an `Idempotency-Key`. */
export const takesIdempotencyKey = ({ of, method }: Route): boolean => of === 'workspace' && method === 'POST'
