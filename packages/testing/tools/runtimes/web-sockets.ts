import { type FetchHandler, toFetchHandler, type WebSocketRuntime } from '@signalbox/fetch-handler'
import { createGateway } from '@signalbox/gateway'
import { simulated } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'

export const webSocketKey = 'ak_websocket_0123456789'

/** A gateway for clients that open WebSockets, mounted as a fetch handler. */
export async function webSocketHandler(webSocket: WebSocketRuntime): Promise<FetchHandler> {
  const price = { input: 1_000_000, output: 2_000_000 }
  const gateway = createGateway({
    providers: [simulated({ id: 'sim' })],
    models: [{ id: 'echo', offers: [{ provider: 'sim', model: 'echo', api: 'chat', price }] }],
    storage: memoryStorage(),
  })
  const { id } = await gateway.workspaces.create({ name: 'WebSockets', billing: 'postpaid' })
  await gateway.workspaces(id).apiKeys.create({ name: 'k', scopes: '*', secret: webSocketKey })
  const signedOut = new Set<string>()
  return toFetchHandler(gateway, {
    webSocket,
    maxBodyBytes: 100_000,
    authenticate(request) {
      const user = /user=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1]
      if (request.url.endsWith('/sign-out') && user !== undefined) signedOut.add(user)
      return user === undefined || signedOut.has(user) ? undefined : { workspace: id, user }
    },
  })
}
