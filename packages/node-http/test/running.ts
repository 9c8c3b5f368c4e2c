import type { Server } from 'node:http'
import type { InferenceEvent } from '@signalbox/dialects/protocol'
import { onTestFinished } from 'vitest'
import { type Fake, fakeGateway, goodKey } from '../../api/test/fake-gateway.ts'
import { type RequestLine, type ServeOptions, serve } from '../src/index.ts'

export interface Running extends Fake {
  readonly url: string
  readonly port: number
  readonly server: Server
  readonly lines: RequestLine[]
}

export async function start(options: ServeOptions = {}, fake: Fake = fakeGateway()): Promise<Running> {
  const lines: RequestLine[] = []
  const { url, port, server, close } = await serve(fake.gateway, { port: 0, onRequest: line => lines.push(line), ...options })
  onTestFinished(() => close())
  return Object.assign(fake, { url, port, server, lines })
}

export const auth = `authorization: Bearer ${goodKey}\r\n`
export const jsonHeaders = { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' }
export const post = (headers: string, body = ''): string => `POST /v1/responses HTTP/1.1\r\nhost: x\r\n${headers}\r\n${body}`
export const whole = post(`${auth}content-length: 17\r\n`, '{"model":"small"}')

export type Batches = AsyncIterator<readonly InferenceEvent[], undefined>

export const batchesOf = (batches: readonly (readonly InferenceEvent[])[]): Batches => {
  const left = [...batches]
  return {
    next: async () => {
      const value = left.shift()
      return value === undefined ? { done: true, value: undefined } : { done: false, value }
    },
  }
}

export const stream = (url: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/v1/responses`, { method: 'POST', headers: jsonHeaders, body: '{"stream":true}', ...(signal && { signal }) })
