import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { fakeProvider } from './page-blocks.ts'

/** The fake provider of the blocks on a free port of 127.0.0.1. */
export async function serveFakeProvider(): Promise<{ readonly port: number; close(): void }> {
  const answer = new Function(`${fakeProvider}; return globalThis.fakeProvider`)() as (request: Request) => Promise<Response>
  const server = createServer(async (message, response) => {
    const body = Readable.toWeb(message) as ReadableStream<Uint8Array>
    const reply = await answer(new Request(`http://provider${message.url}`, { method: 'POST', body, duplex: 'half' } as RequestInit))
    response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
