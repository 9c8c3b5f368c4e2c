import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { until } from './raw.ts'

/** A message of the server. */
export interface Heard {
  readonly type: string
  readonly status?: number
  readonly error?: { readonly code: string; readonly message: string; readonly param?: string | null }
  readonly headers?: Readonly<Record<string, string>>
  readonly response?: { readonly id: string; readonly status: string; readonly output: readonly { readonly type: string }[] }
  readonly [field: string]: unknown
}

interface Closed {
  readonly code: number
  readonly reason: string
}

export interface WebSocketClient {
  readonly socket: WebSocket
  readonly heard: Heard[]
  readonly types: () => string[]
  readonly closed: () => Closed | undefined
  readonly untilClosed: () => Promise<Closed>
  /** Sends `response.create`. */
  readonly create: (fields: object) => void
  /** Sends it, and resolves to the messages of its response: up to the last event, or to an error with a status. */
  readonly ask: (fields: object) => Promise<readonly Heard[]>
}

const lastEvents = ['response.completed', 'response.incomplete', 'response.failed', 'finished']
const isLast = ({ type, status }: Heard): boolean => lastEvents.includes(type) || (type === 'error' && status !== undefined)

/** Opens a WebSocket with `ws`. It ends with the test, unless `isKept`. */
export async function openWebSocket(url: string, headers: Readonly<Record<string, string>>, isKept = false): Promise<WebSocketClient> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers: { ...headers } })
  if (!isKept) onTestFinished(() => socket.terminate())
  const heard: Heard[] = []
  let closed: Closed | undefined
  socket.on('message', data => heard.push(JSON.parse(String(data)) as Heard))
  socket.on('close', (code, reason) => {
    closed = { code, reason: String(reason) }
  })
  await once(socket, 'open')
  socket.on('error', () => {})
  const create = (fields: object): void => socket.send(JSON.stringify({ type: 'response.create', ...fields }))
  return {
    socket,
    heard,
    types: () => heard.map(({ type }) => type),
    closed: () => closed,
    untilClosed: async () => {
      await until(() => closed !== undefined)
      return closed as Closed
    },
    create,
    ask: async fields => {
      const from = heard.length
      create(fields)
      // Large answers take long on a busy machine; the test has a timeout of its own.
      await until(() => heard.slice(from).some(isLast) || closed !== undefined, 120_000)
      const answer = heard.slice(from)
      return answer.slice(0, answer.findIndex(isLast) + 1)
    },
  }
}

/** The status and body with which an upgrade is refused; 101 if it is not. */
export const upgradeStatus = (
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly code?: string; readonly headers: Readonly<Record<string, unknown>> }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers: { ...headers } })
    socket.once('upgrade', ({ headers: replied }) => {
      resolve({ status: 101, headers: replied })
      socket.on('open', () => socket.terminate())
    })
    socket.on('error', reject)
    socket.once('unexpected-response', (_, response) => {
      let text = ''
      response.on('data', chunk => {
        text += chunk
      })
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).error.code, headers: response.headers }),
      )
    })
  })
