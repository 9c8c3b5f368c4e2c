import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '@signalbox/gateway'
import { type NodeOptions, toNodeHandler } from '@signalbox/node-http'

/** What is used of a Fastify instance. */
export interface FastifyApp {
  /** Where the plugin is registered: `/llm`. Empty at the root. */
  readonly prefix: string
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(type: string, parser: (request: unknown, payload: unknown, done: (error: null) => void) => void): unknown
  all(path: string, handler: (request: { readonly raw: IncomingMessage }, reply: FastifyReply) => unknown): unknown
}

interface FastifyReply {
  readonly raw: ServerResponse
  hijack(): unknown
}

/** A plugin of Fastify. */
export type FastifyPlugin = (app: FastifyApp, options: unknown, done: (error?: Error) => void) => void

/**
 * Mounts a gateway in a Fastify app. The prefix of the registration tells where. Parsers of the app do not see these requests,
 * and `onSend` hooks not their replies. The app does not start if `setup` fails.
 *
 * @example
 * app.register(toFastifyPlugin(gateway), { prefix: '/llm' })
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind.
 */
export function toFastifyPlugin(gateway: Gateway, options?: NodeOptions): FastifyPlugin {
  toNodeHandler(gateway, options, 'toFastifyPlugin')
  return (app, _, done) => {
    const listener = toNodeHandler(gateway, { basePath: app.prefix, ...options }, 'toFastifyPlugin')
    // Only inside the plugin: other routes of the app keep their parsers.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
    const handle: Parameters<FastifyApp['all']>[1] = (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    }
    app.all('/*', handle)
    // Without a prefix it is the app's own.
    if (app.prefix !== '') app.all('/', handle)
    gateway.ready().then(() => done(), done)
  }
}
