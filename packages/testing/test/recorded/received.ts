import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { parsed } from '../../src/parsed.ts'
import type { Call } from './holdings.ts'

// What a client receives, parsed as its vendor documents the dialect.

export interface Received {
  readonly text: string
  readonly calls: readonly Call[]
  readonly usage: { readonly input: number; readonly output: number } | undefined
  readonly warnings: readonly string[]
  /** Sentences that the gateway adds where something that matters is missing. */
  readonly sentences: readonly string[]
  /** Everything received, as text. */
  readonly raw: string
}

export type ClientDialectName = 'responses' | 'chat' | 'messages'

export const paths: Readonly<Record<ClientDialectName, string>> = {
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
}

export interface QuestionOptions {
  readonly model: string
  readonly stream: boolean
  readonly length: number
}

/** `length`: tokens, about. A count that cannot be right for the prompt would not be believed. */
export const question = (clientDialect: ClientDialectName, { model, stream, length }: QuestionOptions): JsonObject => ({
  model,
  stream,
  ...(clientDialect === 'responses'
    ? { input: 'word '.repeat(length) }
    : { messages: [{ role: 'user', content: 'word '.repeat(length) }] }),
  ...(clientDialect === 'messages' && { max_tokens: 60_000 }),
  ...(clientDialect === 'chat' && stream && { stream_options: { include_usage: true } }),
})

const list = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(each => isObject(each)) : []
const string = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)
const inner = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const parsedInput = (text: string): unknown => {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return text
  }
}

interface Reading {
  text: string
  readonly calls: Call[]
  usage: Received['usage']
  warnings: readonly string[]
}

const sentence = /\[The model answered with [^\]]*\]/g
const image = /!\[image\]\([^)]*\)/g

/** The events of a stream, or the body of a whole answer, as objects. */
function objectsIn(raw: string, stream: boolean): readonly JsonObject[] {
  if (!stream) return [parsed(raw) ?? {}]
  return raw.split('\n').flatMap(line => {
    const body = line.startsWith('data:') ? parsed(line.slice(5)) : undefined
    return body ? [body] : []
  })
}

export function received(clientDialect: ClientDialectName, raw: string, stream: boolean): Received {
  const reading: Reading = { text: '', calls: [], usage: undefined, warnings: [] }
  readers[clientDialect](reading, objectsIn(raw, stream))
  const { text, ...rest } = reading
  return { ...rest, text: text.replace(sentence, '').replace(image, ''), sentences: text.match(sentence) ?? [], raw }
}

const warningsOf = (body: JsonObject): readonly string[] => list(body.warnings).map(({ code, message }) => `${code}: ${message}`)

function readResponses(reading: Reading, bodies: readonly JsonObject[]): void {
  const last = bodies.findLast(
    ({ type, object }) => object === 'response' || /^response\.(completed|incomplete|failed)$/.test(string(type)),
  )
  const response = last && isObject(last.response) ? last.response : inner(last)
  for (const item of list(response.output)) {
    if (item.type === 'function_call') reading.calls.push({ name: string(item.name), input: parsedInput(string(item.arguments)) })
    if (item.type === 'custom_tool_call') reading.calls.push({ name: string(item.name), input: string(item.input) })
    if (item.type !== 'message') continue
    for (const part of list(item.content)) reading.text += string(part.text) + string(part.refusal)
  }
  const { input_tokens, output_tokens } = inner(response.usage)
  reading.usage = { input: number(input_tokens), output: number(output_tokens) }
  reading.warnings = warningsOf(response)
}

function readChat(reading: Reading, bodies: readonly JsonObject[]): void {
  const calls = new Map<unknown, { name: string; text: string; custom: boolean }>()
  for (const body of bodies) {
    const choice = list(body.choices)[0] ?? {}
    const message = inner(choice.delta ?? choice.message)
    reading.text += string(message.content) + string(message.refusal)
    for (const [at, call] of list(message.tool_calls).entries()) {
      if (!['', 'function', 'custom'].includes(string(call.type))) continue
      const key = call.index ?? at
      const known = calls.get(key) ?? { name: '', text: '', custom: call.type === 'custom' }
      const { name, arguments: written, input } = inner(call.function ?? call.custom)
      known.name += string(name)
      known.text += string(written) + string(input)
      calls.set(key, known)
    }
    const { prompt_tokens, completion_tokens } = inner(body.usage)
    if (prompt_tokens !== undefined) reading.usage = { input: number(prompt_tokens), output: number(completion_tokens) }
    if (body.warnings) reading.warnings = warningsOf(body)
  }
  for (const { name, text, custom } of calls.values()) reading.calls.push({ name, input: custom ? text : parsedInput(text) })
}

function readMessages(reading: Reading, bodies: readonly JsonObject[]): void {
  const open = new Map<unknown, { name: string; input: string }>()
  const block = (body: JsonObject, index: unknown): void => {
    if (body.type === 'text') reading.text += string(body.text)
    if (body.type !== 'tool_use') return
    const isWhole = isObject(body.input) && Object.keys(body.input).length > 0
    open.set(index, { name: string(body.name), input: isWhole ? JSON.stringify(body.input) : '' })
  }
  for (const body of bodies) {
    for (const [at, each] of list(body.content).entries()) block(each, at)
    if (body.type === 'content_block_start') block(inner(body.content_block), body.index)
    const { text, partial_json } = inner(body.delta)
    if (body.type === 'content_block_delta') reading.text += string(text)
    const call = open.get(body.index)
    if (call && body.type === 'content_block_delta') call.input += string(partial_json)
    if (body.type === 'message' || body.type === 'message_delta') {
      const usage = inner(body.usage)
      const input = number(usage.input_tokens) + number(usage.cache_creation_input_tokens) + number(usage.cache_read_input_tokens)
      reading.usage = { input, output: number(usage.output_tokens) }
      reading.warnings = warningsOf(body)
    }
  }
  for (const { name, input } of open.values()) reading.calls.push({ name, input: parsedInput(input) })
}

const readers: Readonly<Record<ClientDialectName, (reading: Reading, bodies: readonly JsonObject[]) => void>> = {
  responses: readResponses,
  chat: readChat,
  messages: readMessages,
}
