/** What a framework says of the route that it called a handler through: the values of the dynamic parts of its path. */
export type RouteParams = Readonly<Record<string, unknown>>

/** `{ params }`, or a promise of them, as Next.js hands it over. Undefined: the second argument is something else. */
export function paramsOf(value: unknown): RouteParams | Promise<RouteParams> | undefined {
  if (typeof value !== 'object' || value === null || !('params' in value)) return undefined
  const { params } = value
  return typeof params === 'object' && params !== null ? (params as RouteParams | Promise<RouteParams>) : undefined
}

/**
 * The path below the place where a catch-all route is mounted: as many of its last segments as the route caught. A path that
 * leads to a row as it is stays as it is; under `/api/v1/[...path]` the `/v1` belongs to the path.
 */
export function belowMount(path: string, params: RouteParams, ours: (path: string) => boolean): string {
  const caught = Object.values(params).find(Array.isArray)
  if (caught === undefined || ours(path)) return path
  const segments = path.split('/')
  const below = `/${segments.slice(Math.max(1, segments.length - caught.length)).join('/')}`
  return !ours(below) && ours(`/v1${below}`) ? `/v1${below}` : below
}

/** A query without what the edge runtime of Next.js writes into it: the dynamic parts of the path. */
export function ownQuery(query: string, params: RouteParams): string {
  if (query === '') return query
  const kept = [...new URLSearchParams(query)].filter(([name, value]) => !(Object.hasOwn(params, name) && holds(params[name], value)))
  return new URLSearchParams(kept).toString()
}

const holds = (param: unknown, value: string): boolean => (Array.isArray(param) ? param.includes(value) : param === value)
