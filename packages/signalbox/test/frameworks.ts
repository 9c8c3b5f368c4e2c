import 'reflect-metadata'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { AdapterOptions, Started } from '@signalbox/testing/suites'
import express, { type Express } from 'express'
// @ts-expect-error Only version 5 has types here.
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import { serveFetch } from '../../testing/test/fetch-server.ts'
import { toExpressHandler } from '../src/express.ts'
import { toFastifyPlugin } from '../src/fastify.ts'
import { toHonoHandler } from '../src/hono.ts'
import type { Gateway } from '../src/index.ts'
import { mountGateway } from '../src/nest.ts'
import { toNextJsHandler } from '../src/next.ts'

// Each framework as an app has it: with a route of its own at `/hello`, and the gateway below a prefix.

export interface Framework {
  readonly name: string
  /** The app reads bodies itself, so that it, and not the gateway, responds to invalid ones. */
  readonly readsBodies?: true
  /** Serves a gateway at `prefix` on a free port. The URL ends in the prefix. */
  start(gateway: Gateway, options?: AdapterOptions, prefix?: string): Promise<Started>
}

/** Starts a server on a free port. */
export const listen = async (server: ReturnType<typeof createServer>, prefix: string): Promise<Started> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const expressApp =
  (make: () => Express): Framework['start'] =>
  (gateway, options, prefix = '/llm') => {
    const app = make()
    app.get('/hello', (_, response) => void response.send('hello'))
    app.use(prefix, toExpressHandler(gateway, options) as unknown as RequestListener)
    return listen(createServer(app), prefix)
  }

class AppModule {}
Module({})(AppModule)

export const frameworks: readonly Framework[] = [
  {
    name: 'Hono',
    start(gateway, options, prefix = '/llm') {
      const app = new Hono()
      app.get('/hello', context => context.text('hello'))
      app.all(`${prefix}/*`, toHonoHandler(gateway, options))
      return listen(createAdaptorServer({ fetch: app.fetch }) as ReturnType<typeof createServer>, prefix)
    },
  },
  { name: 'Express 5', start: expressApp(() => express()) },
  { name: 'Express 4', start: expressApp(() => (express4 as typeof express)()) },
  {
    name: 'Express 5 after express.json()',
    readsBodies: true,
    start: expressApp(() => express().use(express.json({ limit: '64mb', strict: false }))),
  },
  {
    name: 'Fastify',
    async start(gateway, options, prefix = '/llm') {
      const app = fastify({ forceCloseConnections: true })
      app.get('/hello', async () => 'hello')
      app.register(toFastifyPlugin(gateway, options), { prefix })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      return { url: `${url}${prefix}`, close: () => app.close() }
    },
  },
  ...(['Express', 'Fastify'] as const).map(
    (server): Framework => ({
      name: `Nest on ${server}`,
      async start(gateway, options, prefix = '/llm') {
        const app = await NestFactory.create(AppModule, server === 'Express' ? new ExpressAdapter() : (new FastifyAdapter() as never), {
          logger: false,
          forceCloseConnections: true,
        })
        app.getHttpAdapter().get('/hello', (_: unknown, reply: { send(text: string): void }) => reply.send('hello'))
        await mountGateway(app as never, gateway, { path: prefix, ...options })
        await app.listen(0, '127.0.0.1')
        return { url: `http://127.0.0.1:${app.getHttpServer().address().port}${prefix}`, close: () => app.close() }
      },
    }),
  ),
  {
    name: 'a catch-all route, as Next.js calls it',
    async start(gateway, options, prefix = '/llm') {
      const handlers = toNextJsHandler(gateway, options)
      const { url, close } = await serveFetch(async request => {
        const { pathname } = new URL(request.url)
        if (!pathname.startsWith(`${prefix}/`))
          return new Response(pathname === '/hello' ? 'hello' : 'no page', { status: pathname === '/hello' ? 200 : 404 })
        const path = pathname.slice(prefix.length + 1).split('/')
        const method = request.method === 'HEAD' ? 'GET' : request.method
        return handlers[method as keyof typeof handlers](request, { params: Promise.resolve({ path }) })
      })
      return { url: `${url}${prefix}`, close }
    },
  },
]
