import { GatewayError } from '@signalbox/dialects/errors'
import type { Match, Matcher, Route } from './route.ts'

interface Place {
  /** Rows by method. */
  readonly rows: Record<string, Route>
  readonly segments: readonly string[]
}

/** Finds the rows of a path, for any method. */
export type Finder = (path: string) => Found | undefined

interface Found {
  readonly place: Place
  readonly params: Readonly<Record<string, string>>
}

/**
 * Creates a finder for the rows of a path. Paths are compared as received, without decoding, dot segments, case folding, or removal of
 * doubled or trailing slashes. Each path has one spelling, so the row that is checked is always the row that runs.
 */
export function createFinder(routes: readonly Route[], basePath: string): Finder {
  const fixed = new Map<string, Place>()
  const open: Place[] = []
  for (const row of routes) {
    const segments = row.path.split('/')
    const isFixed = !row.path.includes(':')
    const known = isFixed ? fixed.get(row.path) : open.find(place => place.segments.join('/') === row.path)
    const place = known ?? { rows: {}, segments }
    place.rows[row.method] = row
    if (known === undefined && isFixed) fixed.set(row.path, place)
    else if (known === undefined) open.push(place)
  }

  return whole => {
    const path = pathBelow(whole, basePath)
    if (path === undefined) return undefined
    const exact = fixed.get(path)
    if (exact !== undefined) return { place: exact, params: noParams }
    for (const place of open) {
      const params = paramsOf(place.segments, path)
      if (params !== undefined) return { place, params }
    }
    return undefined
  }
}

/** One object for all requests, because an open stream keeps it. */
const noParams: Readonly<Record<string, string>> = Object.freeze({})

/** A path without the base path, which itself is `/`; undefined if it is not below it. `pathBelow('/apiv1/me', '/api')` is undefined. */
function pathBelow(path: string, basePath: string): string | undefined {
  if (path === basePath && basePath !== '') return '/'
  return path.startsWith(basePath) && (basePath === '' || path[basePath.length] === '/') ? path.slice(basePath.length) : undefined
}

/** The row at or above a path, for any method. Errors about the path use its dialect and headers. */
export const nearestRow = (routes: readonly Route[], basePath: string, path: string): Route | undefined =>
  routes.find(row => row.dialect !== undefined && `${path}/`.startsWith(`${basePath}${row.path}/`))

/** Path prefixes of the rows in management/routes.ts, which are loaded when a request first needs them. */
const managementPaths = ['/v1/workspaces/', '/v1/invites/'] as const

/** Whether a path belongs to management. `isManagement('/api/v1/workspaces/ws_1/settings', '/api')` */
export const isManagement = (path: string, basePath: string): boolean =>
  path.startsWith(basePath) && managementPaths.some(above => path.startsWith(above, basePath.length))

/** Finds the row of a method and a path. Throws if the path does not exist. */
export function createMatcher(routes: readonly Route[], basePath: string): Matcher {
  const find = createFinder(routes, basePath)
  return (method, path) => {
    const found = find(path)
    if (found === undefined) {
      const prefix = basePath === '' ? prefixOf(path, find) : undefined
      if (prefix !== undefined)
        throw notFoundError(path, ` If the gateway is mounted under a prefix, set its option \`basePath: "${shown(prefix)}"\`.`)
      const below = pathBelow(path, basePath)
      throw below === undefined ? notBelowError(path, basePath) : unknownPathError(below, { basePath, find })
    }
    return choose(found.place, method, found.params)
  }
}

function choose(place: Place, method: string, params: Readonly<Record<string, string>>): Match {
  const head = method === 'HEAD'
  const row = Object.hasOwn(place.rows, head ? 'GET' : method) ? place.rows[head ? 'GET' : method] : undefined
  if (row !== undefined) return { kind: 'row', row, params, head }
  const methods = Object.keys(place.rows)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  return { kind: method === 'OPTIONS' ? 'options' : 'wrong_method', allow }
}

/** `:name` matches one segment, `:name+` all remaining ones. Undefined if the path does not match. */
function paramsOf(segments: readonly string[], path: string): Readonly<Record<string, string>> | undefined {
  const given = path.split('/')
  const params: Record<string, string> = {}
  for (const [at, segment] of segments.entries()) {
    const rest = segment.endsWith('+')
    const value = rest ? given.slice(at).join('/') : given[at]
    if (value === undefined) return undefined
    if (!segment.startsWith(':')) {
      if (value !== segment) return undefined
      continue
    }
    const decoded = decode(value)
    // Only the last parameter of a row may contain slashes, plain or escaped.
    if (decoded === undefined || decoded === '' || (!rest && decoded.includes('/'))) return undefined
    params[segment.slice(1, rest ? -1 : undefined)] = decoded
    if (rest) return params
  }
  return given.length === segments.length ? params : undefined
}

function decode(value: string): string | undefined {
  if (!value.includes('%')) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}

/** The prefix without which a path would be one of the API. Only the first few slashes are tried. */
function prefixOf(path: string, find: Finder): string | undefined {
  if (path.startsWith('/v1/')) return undefined
  let at = 0
  for (let tries = 0; tries < 8; tries++) {
    at = path.indexOf('/', at + 1)
    if (at === -1) return undefined
    if (find(path.slice(at)) !== undefined || isManagement(path.slice(at), ''))
      return /^(\/[\w.~-]+)+$/.test(path.slice(0, at)) ? path.slice(0, at) : undefined
  }
  return undefined
}

const notFoundError = (path: string, hint = ''): GatewayError =>
  new GatewayError('resource_not_found', { message: `There is no endpoint at "${shown(path)}".${hint}` })

const notBelowError = (path: string, basePath: string): GatewayError =>
  notFoundError(path, ` The gateway is mounted with \`basePath: "${basePath}"\`.`)

/** `path` is without the base path. */
function unknownPathError(path: string, { basePath, find }: { readonly basePath: string; readonly find: Finder }): GatewayError {
  if (path === '/v1/v1' || path.startsWith('/v1/v1/')) {
    return new GatewayError('invalid_parameter_value', {
      param: 'path',
      message: `The path starts with "/v1/v1/". The base URL already ends in "/v1"; use "${basePath}${shown(path.slice(3))}".`,
    })
  }
  return path === '/v1beta' || path.startsWith('/v1beta/')
    ? new GatewayError('resource_not_found', { message: 'The prefix "/v1beta/" is reserved and has no endpoints. Use "/v1/".' })
    : notFoundError(basePath + path, find(`${basePath}/v1${path}`) && lacksVersion(basePath, path))
}

/** For the URL of a client without "/v1", and for a gateway that is mounted below a path that a server cuts off, "/v1" included. */
const lacksVersion = (basePath: string, path: string): string =>
  ` There is one at "${basePath}/v1${shown(path)}": end the client's base URL with "/v1", or mount the gateway at a path without it.`

const shown = (path: string): string => path.slice(0, 100).replace(/[^\x21-\x7e]/g, '')
