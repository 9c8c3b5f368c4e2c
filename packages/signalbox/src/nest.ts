import type { Gateway } from '@signalbox/gateway'
import type { NodeOptions } from '@signalbox/node-http'
import { toExpressHandler } from './express.ts'
import { toFastifyPlugin } from './fastify.ts'

/** What is used of a Nest app, on Express or on Fastify. */
export interface NestApp {
  getHttpAdapter(): { getType(): string }
  use(path: string, handler: unknown): unknown
  /** Apps on Fastify have it. */
  register?(plugin: unknown, options: { readonly prefix: string }): unknown
}

/** Options of `mountGateway`. */
export interface NestOptions extends NodeOptions {
  /** Where the gateway is mounted: `/llm`. The global prefix of the app does not apply. */
  readonly path: string
}

/**
 * Mounts a gateway in a Nest app, on Express or on Fastify. Call it before `app.listen`, and wait for it.
 *
 * @example
 * const app = await NestFactory.create(AppModule)
 * await mountGateway(app, gateway, { path: '/llm' })
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind; the app is on another server. And the error of `setup`.
 */
export async function mountGateway(app: NestApp, gateway: Gateway, { path, ...options }: NestOptions): Promise<void> {
  await gateway.ready()
  const type = app.getHttpAdapter().getType()
  if (type === 'express') app.use(path, toExpressHandler(gateway, options))
  else if (type === 'fastify') await app.register?.(toFastifyPlugin(gateway, options), { prefix: path })
  else throw new TypeError(`mountGateway: the app is on "${type}"; it takes apps on Express or Fastify.`)
}
