import { asIterator } from '@signalbox/core/runtime'
import type { TransportReply, TransportRequest } from '@signalbox/dialects/protocol'
import { afterEach, beforeEach } from 'vitest'
import { type NodeTransport, nodeTransport } from '../src/node-transport.ts'

export interface TransportUnderTest {
  /** The transport of the test that runs. */
  readonly transport: () => NodeTransport
  ask(url: string, more?: Partial<TransportRequest>): Promise<TransportReply>
}

/** A transport of its own for each test, and a request to send with it. */
export function useTransport(): TransportUnderTest {
  let transport: NodeTransport
  beforeEach(() => {
    transport = nodeTransport({ connectMs: 300 })
  })
  afterEach(() => transport.close())
  return {
    transport: () => transport,
    ask: (url, more = {}) =>
      transport({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        signal: new AbortController().signal,
        ...more,
      }),
  }
}

export async function readAll({ body }: TransportReply): Promise<string> {
  const chunks: Uint8Array[] = []
  const pieces = asIterator(body)
  for (let step = await pieces.next(); !step.done; step = await pieces.next()) chunks.push(step.value)
  return Buffer.concat(chunks).toString()
}
