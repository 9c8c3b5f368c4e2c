import type { Gateway } from '@signalbox/core'
import { keepViews } from './catalog/views.ts'
import type { Api } from './exchange.ts'
import { keepOutages } from './fail.ts'
import { createHandler } from './handle.ts'
import { createHeavySteps } from './heavy-steps.ts'
import { createFinder } from './match.ts'
import { makeDocument } from './openapi.ts'
import { routes, type Site } from './routes.ts'
import { makeSchemas, type Schemas } from './schemas.ts'
import { type ApiOptions, settingsOf } from './settings.ts'
import { createUploads } from './uploads.ts'

export { type BodyBytes, collectBytes } from './body-bytes.ts'
export type { Api, ApiContext, ApiReply, ApiRequest, BodyText } from './exchange.ts'
export { type ClientLimits, limitsOf } from './limits.ts'
export type { RequestLine } from './line.ts'
export { type Call, type KeyedRoute, type PublicRoute, type Route, routes, type Site, type WorkspaceRoute } from './routes.ts'
export type { ApiOptions, Cors } from './settings.ts'
export { type UploadPace, watchUpload } from './upload-pace.ts'

/**
 * The HTTP API as a function of plain values; rows in languages that the gateway does not speak are not there. `@signalbox/fetch-handler` and `@signalbox/node-http` put it on a server;
 * use it itself to put it on another.
 *
 * @example
 * const api = createApi(gateway, { basePath: '/api' })
 * const { status, headers, body } = await api({ method: 'GET', path: '/api/v1/me', query: '', header, text, signal })
 */
export function createApi(gateway: Gateway, options?: ApiOptions): Api {
  let document: string | undefined
  const settings = settingsOf(options)
  let made: Schemas | undefined
  const schemas = (): Schemas => (made ??= makeSchemas())
  const spoken = routes.filter(({ dialect }) => dialect === undefined || gateway.dialects[dialect] !== undefined)
  const site: Site = {
    routes: spoken,
    settings,
    endpoints: spoken.flatMap(({ endpoint }) => (endpoint === undefined ? [] : [endpoint])),
    schemas,
    document: () =>
      (document ??= JSON.stringify(makeDocument(spoken, schemas(), { operator: gateway.operator, basePath: settings.basePath }))),
    views: keepViews(),
    uploads: createUploads(settings),
    heavySteps: createHeavySteps(gateway.clock),
    outages: keepOutages(gateway.clock),
  }
  return createHandler(gateway, site)
}

/**
 * Tells whether a path, as it came and without its query, is one that the API answers; for servers that have others beside it.
 *
 * @example
 * const ours = pathTest({ basePath: '/api' })
 * ours('/api/v1/me') // true
 */
export function pathTest(options?: ApiOptions): (path: string) => boolean {
  const find = createFinder(routes, settingsOf(options).basePath)
  return path => find(path) !== undefined
}
