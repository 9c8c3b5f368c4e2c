import type { JsonObject } from '@signalbox/dialects/protocol'
import { type Heard, openWebSocket } from '../../node-http/test/web-socket-client.ts'
import { type Answer, type Client, responsesCaller } from './callers.ts'

/** The request id that a response id was made of. */
export const requestIdOf = (responseId: string): string =>
  responseId.replace('resp_', '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Messages as the answer over HTTP that they stand for: an error with its status, or a stream of events. */
function answerOf(messages: readonly Heard[]): Answer {
  const [first] = messages
  if (first?.status !== undefined) {
    const { type: _, status, headers, ...body } = first
    return { status, headers: new Headers(headers), text: JSON.stringify(body) }
  }
  const text = messages.map(message => `event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`).join('')
  const headers = { 'content-type': 'text/event-stream', 'x-request-id': requestIdOf(first?.response?.id ?? '') }
  return { status: 200, headers: new Headers(headers), text }
}

/** The Responses API over a WebSocket, one connection a request. */
export const webSocketCaller: Client = {
  ...responsesCaller,
  name: 'WebSocket',
  async ask(url: string, secret: string, body: JsonObject): Promise<Answer> {
    const { ask, socket } = await openWebSocket(url, { authorization: `Bearer ${secret}` }, true)
    try {
      return answerOf(await ask(body))
    } finally {
      socket.close()
    }
  },
}
