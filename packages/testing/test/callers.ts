import { isObject, type JsonObject } from '@signalbox/core/protocol'
import { expect } from 'vitest'
import { leakedSecrets } from '../src/chaos/faults-words.ts'
import { readEvents, terminals } from './read-events.ts'

/** An answer of the gateway, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** What an answer says in the end, whoever was asked and however it was told. */
export interface End {
  readonly status: number
  readonly ends: 'completed' | 'incomplete' | 'failed' | undefined
  readonly reason: string | undefined
  readonly error: JsonObject | undefined
  readonly text: string
  /** The items, where the language has some. */
  readonly output?: readonly JsonObject[]
  readonly warnings: readonly string[]
  readonly routing: JsonObject | undefined
  readonly retryAfter: number
}

/** An inference endpoint, as one of its clients sees it. */
export interface Client {
  readonly path: string
  readonly body: JsonObject
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
  expect(events.map(event => event.sequence_number)).toEqual(events.map((_, at) => at))
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

/** What no answer may say, however it came about. */
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
