/** The values of a route's dynamic segments, as a framework passes them to its handler. */
export type RouteParams = Readonly<Record<string, unknown>>

/** The `params` in a handler's second argument, which Next.js passes as `{ params }` or as a promise of them. */
export function routeParamsOf(value: unknown): RouteParams | Promise<RouteParams> | undefined {
  if (typeof value !== 'object' || value === null || !('params' in value)) return undefined
  const { params } = value
  return typeof params === 'object' && params !== null ? (params as RouteParams | Promise<RouteParams>) : undefined
}

/**
 * The path below the mount point of a catch-all route: its last segments, as many as the route caught. A path that the API serves stays
 * unchanged. Under `/api/v1/[...path]`, `/v1` belongs to the path.
 */
export function pathBelowMount(path: string, params: RouteParams, isApiPath: (path: string) => boolean): string {
  const caught = Object.values(params).find(Array.isArray)
  if (caught === undefined || isApiPath(path)) return path
  const segments = path.split('/')
  const start = Math.max(1, segments.length - caught.length)
  const below = `/${segments.slice(start).join('/')}`
  return segments[start - 1] === 'v1' && !isApiPath(below) ? `/v1${below}` : below
}

/** Removes the route params that the edge runtime of Next.js adds to a query. */
export function withoutRouteParams(query: string, params: RouteParams): string {
  if (query === '') return query
  const kept = [...new URLSearchParams(query)].filter(([name, value]) => !(Object.hasOwn(params, name) && hasValue(params[name], value)))
  return new URLSearchParams(kept).toString()
}

const hasValue = (param: unknown, value: string): boolean => (Array.isArray(param) ? param.includes(value) : param === value)
