import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

type Handler = (request: Request) => Promise<Response>

/** A server for functions from Request to Response, as simple as one can be that still passes on pressure and hanging up. */
export async function serveFetch(handler: Handler): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((message, response) => {
    answer(handler, message, response).catch(() => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(handler: Handler, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const leaving = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) leaving.abort()
  })
  const bodyless = message.method === 'GET' || message.method === 'HEAD'
  const request = new Request(`http://host${message.url}`, {
    method: message.method ?? 'GET',
    headers: Object.entries(message.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
    signal: leaving.signal,
    ...(!bodyless && { body: Readable.toWeb(message) as ReadableStream<Uint8Array>, duplex: 'half' }),
  })
  const reply = await handler(request)
  // A small rest is read and thrown away by Node; a large one is not worth the wait.
  const unread = !message.complete && !(Number(message.headers['content-length'] ?? Number.NaN) <= 65_536)
  for (const cookie of reply.headers.getSetCookie()) response.appendHeader('set-cookie', cookie)
  const headers = [...reply.headers].filter(([name]) => name !== 'set-cookie')
  response.writeHead(reply.status, { ...Object.fromEntries(headers), ...(unread && { connection: 'close' }) })
  const reader = reply.body?.getReader()
  leaving.signal.addEventListener('abort', () => void reader?.cancel().catch(() => {}))
  let wake = (): void => {}
  response.on('drain', () => wake()).on('close', () => wake())
  for (let step = await reader?.read(); step && !step.done; step = await reader?.read()) {
    if (response.write(step.value) || response.destroyed) continue
    await new Promise<void>(resolve => {
      wake = resolve
    })
  }
  response.end()
  // A cancelled response is not awaited.
  if (unread) response.once('finish', () => setTimeout(() => message.destroy(), 100))
}
