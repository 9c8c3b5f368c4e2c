import { isObject, type JsonObject } from '@signalbox/dialects/protocol'
import { expect } from 'vitest'
import { leakedSecrets } from '../src/chaos/faults-words.ts'
import { readEvents, terminals } from './read-events.ts'

/** An answer of the gateway, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The final content of a response, independent of provider and delivery. */
export interface End {
  readonly status: number
  readonly ends: 'completed' | 'incomplete' | 'failed' | undefined
  readonly reason: string | undefined
  readonly error: JsonObject | undefined
  readonly text: string
  /** The items, if the dialect has them. */
  readonly output?: readonly JsonObject[]
  readonly warnings: readonly string[]
  readonly routing: JsonObject | undefined
  readonly retryAfter: number
}

/** An inference endpoint, as one of its clients sees it. */
export interface Client {
  readonly path: string
  /** Default: its path. */
  readonly name?: string
  readonly body: JsonObject
  /** How it sends a body. Default: POST to its path. */
  readonly ask?: (url: string, secret: string, body: JsonObject) => Promise<Answer>
  /** Checks every promise about form on the way. */
  read(answer: Answer): End
}

const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const objectOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined)

function checkHeaders({ headers, text, status }: Answer): void {
  for (const secret of leakedSecrets) expect(text).not.toContain(secret)
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('set-cookie')).toBeNull()
  if (status === 429) expect(headers.get('x-rate-limit-source')).toBe('provider')
}

const isStream = ({ headers }: Answer): boolean => headers.get('content-type')?.startsWith('text/event-stream') === true

/** The last word of a responses stream. */
function lastResponse(text: string): JsonObject {
  const { events } = readEvents(text)
  expect(events.findIndex((event, at) => event.sequence_number !== at)).toBe(-1)
  expect(events.filter(({ type }) => terminals.includes(type))).toHaveLength(1)
  const last = events.at(-1)
  expect(terminals).toContain(last?.type)
  return objectOf(last?.response) ?? {}
}

const textIn = (output: readonly JsonObject[]): string =>
  output
    .flatMap(item => objects(item.content))
    .map(part => (typeof part.text === 'string' ? part.text : ''))
    .join('')

/** Text that no response may contain. */
function checkResponse(body: JsonObject): void {
  const output = objects(body.output)
  const ids = output.flatMap(item => (item.type === 'function_call' ? [item.call_id] : []))
  expect(ids).toEqual([...new Set(ids.filter(id => id !== ''))])
  if (typeof body.created_at === 'number') expect(Math.abs(Date.now() / 1000 - body.created_at)).toBeLessThan(120)
  // State of a provider is sealed before it is handed out.
  for (const { encrypted_content: state } of output) if (state !== undefined) expect(state).toMatch(/^gw1\./)
}

/** Seals differ each time. */
const unsealed = (item: JsonObject): JsonObject => (item.encrypted_content === undefined ? item : { ...item, encrypted_content: 'sealed' })

const endOfResponse = { completed: 'completed', incomplete: 'incomplete', failed: 'failed' } as const

export const responsesCaller: Client = {
  path: '/v1/responses',
  body: { input: 'Tell me about signals.' },
  read(answer) {
    checkHeaders(answer)
    const { status, headers } = answer
    if (isStream(answer)) expect(status).toBe(200)
    const body = isStream(answer) ? lastResponse(answer.text) : (JSON.parse(answer.text) as JsonObject)
    checkResponse(body)
    const error = objectOf(body.error)
    if (status !== 200) expect(error).toMatchObject({ message: expect.any(String), type: expect.any(String), code: expect.any(String) })
    const ends = endOfResponse[body.status as keyof typeof endOfResponse]
    return {
      status,
      ends,
      reason: objectOf(body.incomplete_details)?.reason as string | undefined,
      error,
      text: textIn(objects(body.output)),
      output: objects(body.output).map(unsealed),
      warnings: objects(body.warnings).map(({ code }) => String(code)),
      routing: objectOf(body.routing_metadata),
      retryAfter: Number(headers.get('retry-after')),
    }
  },
}

const reasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  max_tokens: 'max_output_tokens',
  content_filter: 'content_filter',
  refusal: 'content_filter',
}

/** The same fields of every response, in any delivery. */
const endOf = ({ status, headers }: Answer, said: { readonly text: string; readonly finish?: unknown; readonly last: JsonObject }): End => {
  const error = objectOf(said.last.error)
  const reason = typeof said.finish === 'string' ? reasons[said.finish] : undefined
  return {
    status,
    ends: error ? 'failed' : reason === undefined ? 'completed' : 'incomplete',
    reason,
    error,
    text: said.text,
    warnings: objects(said.last.warnings).map(({ code }) => String(code)),
    routing: objectOf(said.last.routing_metadata),
    retryAfter: Number(headers.get('retry-after')),
  }
}

const firstChoice = (body: JsonObject | undefined): JsonObject => objects(body?.choices)[0] ?? {}
const wordsIn = (holder: unknown): string => {
  const content = objectOf(holder)?.content
  return typeof content === 'string' ? content : ''
}

/** An answer in chunks: it ends with its mark, or with an error and nothing behind it. */
function readChunks(text: string): { readonly text: string; readonly finish?: unknown; readonly last: JsonObject } {
  const data = text.split('\n\n').flatMap(event => (event.startsWith('data: ') ? [event.slice('data: '.length)] : []))
  const chunks = data.filter(each => each !== '[DONE]').map(each => JSON.parse(each) as JsonObject)
  const last = chunks.at(-1) ?? {}
  const finishes = chunks.flatMap(chunk => (typeof firstChoice(chunk).finish_reason === 'string' ? [firstChoice(chunk).finish_reason] : []))
  expect(data.filter(each => each === '[DONE]')).toHaveLength(last.error === undefined ? 1 : 0)
  expect(finishes).toHaveLength(last.error === undefined ? 1 : 0)
  expect(data.at(-1) === '[DONE]').toBe(last.error === undefined)
  return { text: chunks.map(chunk => wordsIn(firstChoice(chunk).delta)).join(''), finish: finishes[0], last }
}

export const chatCaller: Client = {
  path: '/v1/chat/completions',
  body: { messages: [{ role: 'user', content: 'Tell me about signals.' }] },
  read(answer) {
    checkHeaders(answer)
    if (isStream(answer)) return endOf(answer, readChunks(answer.text))
    const last = JSON.parse(answer.text) as JsonObject
    if (answer.status !== 200)
      expect(last).toEqual({
        error: expect.objectContaining({
          message: expect.any(String),
          type: expect.any(String),
          code: expect.any(String),
          param: expect.toBeOneOf([null, expect.any(String)]),
        }),
      })
    const { message, finish_reason: finish } = firstChoice(last)
    return endOf(answer, { text: wordsIn(message), finish, last })
  },
}

/** Error types that Messages clients act on, by status. */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}
const errorShape = { type: expect.stringMatching(/_error$|^request_too_large$/), message: expect.any(String), code: expect.any(String) }

/** Named events, a beginning and an end, or an error and nothing behind it. */
function readNamed(text: string): { readonly text: string; readonly finish?: unknown; readonly last: JsonObject } {
  const events = text
    .split('\n\n')
    .filter(block => block !== '')
    .map(block => {
      const [, name, data = ''] = /^event: ([a-z_]+)\ndata: ([^\r\n]*)$/.exec(block) ?? []
      const body = JSON.parse(data) as JsonObject
      expect(body.type).toBe(name)
      return body
    })
    .filter(({ type }) => type !== 'ping')
  const last = events.at(-1) ?? {}
  const ended = events.find(({ type }) => type === 'message_delta')
  expect(['message_stop', 'error']).toContain(last.type)
  expect(events.filter(({ type }) => type === 'message_stop' || type === 'error')).toHaveLength(1)
  if (last.type === 'error') expect(last).toMatchObject({ error: errorShape, request_id: expect.any(String) })
  const deltas = events.flatMap(({ delta }) => (isObject(delta) && typeof delta.text === 'string' ? [delta.text] : []))
  return { text: deltas.join(''), finish: objectOf(ended?.delta)?.stop_reason, last: { ...ended, ...last } }
}

export const messagesCaller: Client = {
  path: '/v1/messages',
  // More than any answer of these tests: what is longer than its cap is cut.
  body: { max_tokens: 1_000_000, messages: [{ role: 'user', content: 'Tell me about signals.' }] },
  read(answer) {
    checkHeaders(answer)
    if (isStream(answer)) return endOf(answer, readNamed(answer.text))
    const last = JSON.parse(answer.text) as JsonObject
    if (answer.status !== 200)
      expect(last).toMatchObject({
        type: 'error',
        error: { ...errorShape, type: errorTypes[answer.status] ?? expect.any(String) },
        request_id: answer.headers.get('x-request-id'),
      })
    return endOf(answer, { text: textIn([{ content: last.content }]), finish: last.stop_reason, last })
  },
}
