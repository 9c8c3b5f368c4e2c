import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inject, onTestFinished } from 'vitest'
import { waitMs, waitUntil } from '../../testing/test/waits.ts'
import { type Asking, type LaunchOptions, type Listening, linesOf, listening } from './launch.ts'

/** Milliseconds that a test waits for what takes a second on an idle machine. */
export const timeoutMs = waitMs

export const adminKey = 'ak_my-own-admin-key'
/** Microdollars of a request: 2,000 tokens at one dollar for a million. What it may cost is what it does cost. */
export const cost = 2_000

/** A provider whose responses always cost the same: whole ones at once, streams over `streamMs`; `onStream` is called as one begins. */
export async function meteredUpstream({ streamMs = 0, onStream = () => {} } = {}): Promise<string> {
  const usage = { prompt_tokens: 10, completion_tokens: cost, total_tokens: cost + 10 }
  const facts = { id: 'chatcmpl-1', created: 1, model: 'm' }
  const event = (choice: object, more: object = {}): string =>
    `data: ${JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices: [{ index: 0, finish_reason: null, ...choice }], ...more })}\n\n`
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming) text += chunk
    if (!JSON.parse(text).stream) {
      response.setHeader('content-type', 'application/json')
      const choices = [{ index: 0, message: { role: 'assistant', content: 'the answer' }, finish_reason: 'stop' }]
      response.end(JSON.stringify({ ...facts, object: 'chat.completion', choices, usage }))
      return
    }
    onStream()
    response.setHeader('content-type', 'text/event-stream')
    for (let at = 0; at < 5; at++) {
      response.write(event({ delta: { role: 'assistant', content: `word${at} ` } }))
      await new Promise(resolve => setTimeout(resolve, streamMs / 5))
    }
    response.end(`${event({ delta: {}, finish_reason: 'stop' }, { usage })}data: [DONE]\n\n`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

/** A config with workers, and one model of which each answer costs the same. */
export const meteredConfig = (baseURL: string, more: Readonly<Record<string, unknown>> = {}) => ({
  workers: 2,
  catalog: 'none',
  admin_key: adminKey,
  workspace: { credit_usd: 1_000 },
  providers: [{ id: 'local', base_url: baseURL }],
  models: [{ id: 'm', offers: [{ provider: 'local', provider_model_id: 'm', dialect: 'chat', price: { input: 0, output: 1 } }] }],
  limits: { inference_rpm: 1_000_000, concurrent_requests: 100_000 },
  ...more,
})

/** How a request ended: its status, with ` cut` if the answer is not complete, or the error of the connection. */
export type Outcome = number | string

/** Connections that a client keeps. */
export const clientAgent = (connections: number): Agent => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  onTestFinished(() => agent.destroy())
  return agent
}

export function post(
  { url, key }: Asking,
  { stream = false, agent }: { readonly stream?: boolean; readonly agent: Agent },
): Promise<Outcome> {
  const body = JSON.stringify({ model: 'm', stream, max_tokens: cost, messages: [{ role: 'user', content: 'x' }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': String(body.length) }
  return new Promise(resolve => {
    const outgoing = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers, timeout: waitMs }, response => {
      const { statusCode = 0 } = response
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
      response.on('end', () => resolve(!stream || statusCode !== 200 || text.includes('[DONE]') ? statusCode : `${statusCode} cut`))
    })
    outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('timeout'), { code: 'TIMEOUT' })))
    outgoing.on('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
    outgoing.end(body)
  })
}

/** How many requests ended in each way. */
export function countOutcomes(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

export interface Load {
  /** Requests that have ended. */
  count(): number
  /** Sends no more, and resolves to how all ended. */
  stop(): Promise<readonly Outcome[]>
}

/** Milliseconds between two requests on a connection. */
const restMs = inject('isLongRun') ? 0 : 60

/** Sends whole and streamed requests over so many connections, each soon after the one before it has ended. */
export function load(asking: Asking, connections: number): Load {
  const agent = clientAgent(connections)
  const outcomes: Outcome[] = []
  let isOver = false
  const loop = async (at: number): Promise<void> => {
    for (let n = at; !isOver; n++) {
      outcomes.push(await post(asking, { stream: n % 2 === 0, agent }))
      await new Promise(resolve => setTimeout(resolve, restMs))
    }
  }
  const loops = Array.from({ length: connections }, (_, at) => loop(at))
  onTestFinished(() => {
    isOver = true
  })
  return {
    count: () => outcomes.length,
    async stop() {
      isOver = true
      await Promise.all(loops)
      return outcomes
    },
  }
}

export interface WorkersListening extends Listening {
  /** All that have ever listened. */
  workers(): readonly { readonly id: number; readonly pid: number }[]
  /** The log lines with this message. */
  linesWith(message: string): readonly Readonly<Record<string, unknown>>[]
}

/** A server of several processes, once all of them listen. */
export async function workersListening(count: number, options: LaunchOptions): Promise<WorkersListening> {
  const server = await listening(options)
  const linesWith = (message: string) =>
    linesOf(
      server
        .err()
        .split('\n')
        .filter(line => line.includes(message))
        .join('\n'),
    )
  const workers = () => linesWith('A worker listens.').map(({ worker, pid }) => ({ id: Number(worker), pid: Number(pid) }))
  await waitUntil(() => workers().length === count)
  return { ...server, key: server.key || adminKey, workers, linesWith }
}
