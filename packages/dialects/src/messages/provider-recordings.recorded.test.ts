import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { decode, metadataOf, offer, plain, said } from '../../test/laws.ts'
import { readStrictly } from '../../test/messages-client-reader.ts'
import { requestFor, user } from '../../test/messages-provider-sent.ts'
import { recordings } from '../../test/recordings.ts'
import { fold } from '../protocol/fold.ts'
import type { Item } from '../protocol/item.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { writeFrames } from '../sse/write.ts'
import { messagesClient } from './client.ts'
import { messagesProvider } from './provider.ts'

const ours = recordings.filter(({ dialect }) => dialect === 'messages')
const streams = ours.map(({ name, frames }) => ({
  name,
  frames,
  bodies: frames.map(({ data }) => JSON.parse(data) as JsonObject),
}))
/** Drops a repeated `message_start`, at which the vendor's SDK stops. */
const once = (bodies: readonly JsonObject[]): readonly JsonObject[] =>
  bodies.filter(({ type }, at) => type !== 'message_start' || bodies[at + 1]?.type !== type)

const answers = ours.flatMap(({ name, whole }) => (whole ? [{ name, whole }] : []))

/** The message as the vendor's SDK assembles it. */
async function assembled(bodies: readonly JsonObject[]): Promise<JsonObject> {
  const text = writeFrames(once(bodies).map(body => ({ event: String(body.type), data: JSON.stringify(body) })))
  const fetch = async (): Promise<Response> => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'x', baseURL: 'http://provider.test', fetch, maxRetries: 0 })
  const stream = client.beta.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
  return JSON.parse(JSON.stringify(await stream.finalMessage())) as JsonObject
}

const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const count = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** The latest value of each count, added up as the vendor bills it. */
function vendorUsage(bodies: readonly JsonObject[]): JsonObject {
  const latest: Record<string, unknown> = {}
  for (const body of bodies) {
    const usage = isObject(body.message) ? body.message.usage : body.usage
    for (const [field, value] of Object.entries(isObject(usage) ? usage : {})) if (value !== null) latest[field] = value
  }
  const [fresh, written, cached] = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map(field =>
    count(latest[field]),
  )
  // The totals leave compactions out.
  const compactions = objects(latest.iterations).filter(({ type }) => type === 'compaction')
  const compacted = (field: string): number => compactions.reduce((sum, step) => sum + count(step[field]), 0)
  return {
    input: (fresh ?? 0) + (written ?? 0) + (cached ?? 0) + compacted('input_tokens'),
    cached: cached ?? 0,
    written: written ?? 0,
    output: count(latest.output_tokens) + compacted('output_tokens'),
  }
}

const reasoningIn = (content: unknown): readonly JsonObject[] =>
  objects(content).filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')

/** What is sent to the provider when the response is part of the conversation. */
const sentBack = (output: readonly Item[]): readonly JsonObject[] => {
  const { body } = messagesProvider.encodeRequest(requestFor({ input: [user({ type: 'text', text: 'Hi' }), ...output] }), offer, {})
  return objects(objects(body.messages)[1]?.content)
}

describe.each(streams)('$name', ({ frames, bodies }) => {
  const response = fold(decode(messagesProvider, frames))

  test('is decoded like the message that the vendor’s SDK assembles', async () => {
    expect(said(messagesProvider.decodeResponse(await assembled(bodies)))).toEqual(
      said({ ...response, output: response.output.map(respaced) }),
    )
  })

  test('has the vendor’s token counts', () => {
    const { usage } = response
    const expected = vendorUsage(bodies)
    // Some turns have no counts.
    if (expected.input === 0 && expected.output === 0) expect(usage).toBeUndefined()
    else
      expect({
        input: usage?.input_tokens,
        cached: usage?.cached_tokens,
        written: usage?.cache_write_tokens,
        output: usage?.output_tokens,
      }).toEqual(expected)
  })

  test('sends its thinking back byte for byte', async () => {
    const blocks = reasoningIn((await assembled(bodies)).content)
    expect(reasoningIn(sentBack(response.output)).map(block => JSON.stringify(sorted(block)))).toEqual(
      blocks.map(block => JSON.stringify(sorted(block))),
    )
  })

  test('gives a Messages client the same blocks', async () => {
    const metadata = metadataOf()
    const request = { ...requestFor({}), delivery: 'stream' as const }
    const encoded = readStrictly(messagesClient.encodeEvents(request, () => metadata).write(decode(messagesProvider, frames))).message
    const message = await assembled(bodies)
    // Reasoning is sealed in transit, and a refusal becomes text.
    const blocks = objects(message.content).filter(block => block.type !== 'thinking' && block.text !== '')
    if (message.stop_reason !== 'refusal')
      expect(encoded.content.filter(block => block.type !== 'thinking').map(withoutNulls)).toEqual(blocks.map(withoutNulls))
    expect(encoded).toMatchObject({ stop_reason: message.stop_reason, stop_sequence: message.stop_sequence ?? null })
  })
})

/** A whole message contains arguments as an object, not in their original spacing. */
const respaced = (item: Item): Item =>
  item.type === 'function_call' ? { ...item, arguments: JSON.stringify(JSON.parse(item.arguments)) } : item
const sorted = (block: JsonObject): JsonObject => Object.fromEntries(Object.entries(block).sort(([a], [b]) => (a < b ? -1 : 1)))
const withoutNulls = (block: JsonObject): JsonObject => Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null))

describe.each(answers)('$name, whole', ({ whole }) => {
  const response = messagesProvider.decodeResponse(whole)

  test('has the vendor’s token counts, and sends its thinking back byte for byte', () => {
    const { usage } = response
    expect({
      input: usage?.input_tokens,
      cached: usage?.cached_tokens,
      written: usage?.cache_write_tokens,
      output: usage?.output_tokens,
    }).toEqual(vendorUsage([whole]))
    expect(JSON.stringify(reasoningIn(sentBack(response.output)))).toBe(JSON.stringify(reasoningIn(whole.content)))
  })

  test('is sent back unchanged, to the provider and to a Messages client', () => {
    const metadata = metadataOf()
    const encoded = messagesClient.encodeResponse(response, requestFor({}), metadata)
    const others = (content: unknown): readonly JsonObject[] =>
      objects(content)
        .filter(({ type }) => type !== 'thinking')
        .map(withoutNulls)
    const refusal = response.output.flatMap(item => (item.type === 'message' ? item.content : [])).some(({ type }) => type === 'refusal')
    if (!refusal) expect(others(encoded.content)).toEqual(others(whole.content))
    expect(encoded).toMatchObject({ stop_reason: whole.stop_reason, usage: { input_tokens: (whole.usage as JsonObject).input_tokens } })
  })
})

describe('a tool that carries the response', () => {
  test.each(['anthropic/anthropic-json-tool.1'])('%s: the text equals the tool’s input deltas', name => {
    const found = streams.find(stream => stream.name === name)
    if (!found) throw new Error(`${name} is missing`)
    const decoder = messagesProvider.decodeEvents({ answerTool: 'json' })
    const { output } = fold([...decoder.read(found.frames), ...decoder.end()])
    const pieces = found.bodies.map(({ delta }) => (isObject(delta) && typeof delta.partial_json === 'string' ? delta.partial_json : ''))
    expect(plain(output)).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: pieces.join('') }], status: 'completed' },
    ])
  })
})
