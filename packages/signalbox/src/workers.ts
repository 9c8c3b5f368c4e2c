import { createResponder, type FetchContext, type FetchOptions, type Responder, workersWebSockets } from '@signalbox/fetch-handler'
import type { Gateway } from '@signalbox/gateway'

export { type D1Database, type D1StorageOptions, d1Storage } from '@signalbox/storage-sql/d1'
export { type DurableObjectStorage, durableObjectStorage } from '@signalbox/storage-sql/durable-object'
export { type ObjectNamespace, StorageObject, type WorkersStorageOptions, workersStorage } from '@signalbox/storage-sql/workers'

/** The handlers of a Worker. */
export interface WorkersHandler<Env> {
  fetch(request: Request, env: Env, context: FetchContext): Promise<Response>
}

/**
 * Makes a gateway a Worker, with WebSockets at `/v1/responses`. `makeGateway` is called with the bindings at the first request: a Worker
 * has neither bindings nor randomness while its module is loaded.
 *
 * @example
 * export default toWorkersHandler((env: Env) => createGateway({ storage: workersStorage({ objects: env.STORAGE }), providers, models }))
 * @throws {TypeError} At the first request: the gateway is none, or an option is unknown or of another kind.
 */
export function toWorkersHandler<Env>(makeGateway: (env: Env) => Gateway, options?: FetchOptions): WorkersHandler<Env> {
  const ip = (request: Request): string | undefined => request.headers.get('cf-connecting-ip') ?? undefined
  let respond: Responder | undefined
  return {
    fetch(request, env, context) {
      respond ??= createResponder('toWorkersHandler', makeGateway(env), { ip, webSocket: workersWebSockets(), ...options })
      return respond(request, { context, server: env })
    },
  }
}
