import { once } from '@signalbox/dialects/common'
import { type ClientDialect, own } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import type { Api } from './api.ts'
import { keepViews, type View, viewOf } from './catalog/views.ts'
import { createHandler } from './handle.ts'
import { routes } from './inference-routes.ts'
import { createFinder, isManagement } from './match.ts'
import { createOutageLog } from './outage-log.ts'
import type { Route, Site } from './route.ts'
import { type ApiOptions, settingsOf } from './settings.ts'
import { createTurnQueue } from './turn-queue.ts'
import { createUploads } from './uploads.ts'
import { createConnections } from './websocket/connections.ts'

export type { Api, ApiContext, ApiReply, ApiRequest, BodyText, SignedIn } from './api.ts'
export { isBomb } from './decoded-size.ts'
export type { RequestLine } from './request-log.ts'
export type { ApiOptions, Cors } from './settings.ts'
export { type ClientLimits, checkMount, limitsOf, mountTable } from './settings.ts'
export { type SignIn, signedInBy } from './sign-in.ts'
export { collectBytes, type UploadPace, watchUpload } from './uploads.ts'
export type { WebSocketOffer, WebSocketPort } from './websocket/port.ts'
export { loadWebSockets } from './websocket/upgrade.ts'

/**
 * Creates the HTTP API as a function of plain values. Routes in dialects that the gateway does not have are left out.
 * `@signalbox/fetch-handler` and `@signalbox/node-http` connect it to a server; call it directly to use another one.
 *
 * @example
 * const api = createApi(gateway, { basePath: '/api' })
 * const { status, headers, body } = await api({ method: 'GET', path: '/api/v1/me', query: '', header, text, signal })
 */
export function createApi(gateway: Gateway, options?: ApiOptions): Api {
  const settings = settingsOf(options)
  const { webSockets } = settings
  const nextTurn = createTurnQueue(gateway.clock)
  const dialects: Record<string, ClientDialect> = { ...gateway.dialects }
  const loaders: Gateway['dialectLoaders'] = {
    ...gateway.dialectLoaders,
    'ai-sdk': once(async () => (await import('@signalbox/ai-sdk/dialect')).aiSdkClient),
  }
  const isSpoken = ({ dialect }: Route): boolean =>
    dialect === undefined || own(dialects, dialect) !== undefined || own(loaders, dialect) !== undefined
  const spoken = routes.filter(isSpoken)
  const site: Site = {
    routes: spoken,
    settings,
    dialects,
    async loadDialect(name) {
      const dialect = await own(loaders, name)?.()
      if (dialect) dialects[name] = dialect
    },
    endpoints: spoken.flatMap(({ endpoint }) => (endpoint === undefined ? [] : [endpoint])),
    // Code that only some programs need is loaded when it is first requested.
    management: once(async () => (await import('./management/routes.ts')).managementTable(settings.basePath)),
    document: keepDocument(
      once(async () => {
        const { gatewayDocument } = await import('./openapi/gateway-document.ts')
        return gatewayDocument(isSpoken, { ownedBy: gateway.ownedBy, pause: nextTurn })
      }),
      settings.basePath,
    ),
    views: keepViews(),
    startedAt: Math.floor(gateway.clock.now() / 1_000),
    uploads: createUploads(settings),
    webSockets: {
      kept: createUploads({
        maxBodyBytes: 0,
        maxUploadBytes: webSockets.maxHistoryBytesTotal,
        maxUploadBytesPerWorkspace: webSockets.maxHistoryBytesPerWorkspace,
        maxUploadBytesPerUser: webSockets.maxHistoryBytesPerUser,
      }),
      connections: createConnections(webSockets),
    },
    nextTurn,
    outageLog: createOutageLog(gateway.clock),
  }
  return createHandler(gateway, site)
}

/**
 * Caches the document, which is created once, and adapts its `servers` to the mount point of each client.
 *
 * @example
 * const document = keepDocument(() => makeDocument(routes, options), '/api')
 * await document('/llm') // servers: [{ url: '/llm/api' }]
 */
function keepDocument(make: () => Promise<object>, basePath: string): (mount?: string) => Promise<View> {
  let last: { readonly mount: string; readonly view: View } | undefined
  return async (mount = '') => {
    if (last?.mount === mount) return last.view
    const document = await make()
    const view = viewOf({ ...document, servers: [{ url: `${mount}${basePath}` || '/' }] })
    last = { mount, view }
    return view
  }
}

/** The part of a client's path before the one that the API gets; undefined if there is none. `mountBefore('/llm/v1/me', '/v1/me')` is `/llm`. */
export function mountBefore(whole: string, path: string): string | undefined {
  const full = path === '/' && !whole.endsWith('/') ? `${whole}/` : whole
  return path.length < full.length && full.endsWith(path) ? full.slice(0, full.length - path.length) : undefined
}

/**
 * Creates a test for whether a path (as received, without its query) belongs to the API, for servers that also serve other paths. Without a
 * base path `/` is theirs.
 *
 * @example
 * const ours = pathTest({ basePath: '/api' })
 * ours('/api/v1/me') // true
 */
export function pathTest(options?: ApiOptions): (path: string) => boolean {
  const { basePath } = settingsOf(options)
  const find = createFinder(routes, basePath)
  return path => (find(path) !== undefined && (basePath !== '' || path !== '/')) || isManagement(path, basePath)
}
