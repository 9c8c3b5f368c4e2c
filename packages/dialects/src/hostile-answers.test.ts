import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, inject, test } from 'vitest'
import { decode, encode, faultsOf } from '../test/laws.ts'
import { everyEvent } from '../test/messages-provider-frames.ts'
import { chatProvider } from './chat/provider.ts'
import { fold } from './protocol/fold.ts'
import type { Frame, Json, JsonObject } from './protocol/wire.ts'
import { providerDialects } from './providers.ts'
import { writeFrames } from './sse/write.ts'

// Providers are untrusted: whatever they send, a decoder emits a valid stream, and the encoder writes one that clients can read.

const responses: readonly JsonObject[] = [
  { type: 'response.created', response: { id: 'r', model: 'm', created_at: 1, output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'a', role: 'assistant', content: [] } },
  { type: 'response.content_part.added', output_index: 0, content_index: 0, item_id: 'a', part: { type: 'output_text', text: '' } },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'a', delta: 'x', logprobs: [{ token: 'x' }] },
  { type: 'response.output_text.annotation.added', output_index: 0, content_index: 0, annotation: { type: 'url_citation' } },
  { type: 'response.output_text.done', output_index: 0, content_index: 0, item_id: 'a', text: 'xy' },
  { type: 'response.content_part.done', output_index: 0, content_index: 1, item_id: 'a', part: { type: 'refusal', refusal: 'n' } },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'message', id: 'a', role: 'assistant', content: [{ type: 'output_text', text: 'xy' }] },
  },
  { type: 'response.output_item.added', output_index: 1, item: { type: 'function_call', id: 'f', call_id: 'c', name: 'n', arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'f', delta: '{' },
  { type: 'response.function_call_arguments.done', output_index: 1, item_id: 'f', arguments: '{}', name: 'n' },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: { type: 'function_call', id: 'f', call_id: 'c', name: 'n', arguments: '{}' },
  },
  { type: 'response.reasoning_summary_part.added', output_index: 2, summary_index: 0, part: { type: 'summary_text', text: '' } },
  { type: 'response.reasoning_summary_text.delta', output_index: 2, summary_index: 0, delta: 's' },
  { type: 'response.reasoning_text.delta', output_index: 2, content_index: 0, delta: 't' },
  { type: 'response.output_item.added', output_index: 3, item: { type: 'web_search_call', id: 'w' } },
  { type: 'response.web_search_call.searching', output_index: 3, item_id: 'w' },
  {
    type: 'response.incomplete',
    response: {
      id: 'r',
      status: 'incomplete',
      output: [
        { type: 'message', content: [] },
        { type: 'reasoning', summary: [] },
      ],
      usage: {},
    },
  },
]

const chat: readonly JsonObject[] = [
  { id: 'c', model: 'm', created: 1, choices: [{ index: 0, delta: { role: 'assistant', content: 'x' } }] },
  { choices: [{ index: 0, delta: { reasoning_content: 'r', content: [{ type: 'thinking', thinking: [{ text: 't' }] }] } }] },
  {
    choices: [
      {
        index: 0,
        delta: { refusal: 'no', annotations: [{ type: 'url_citation', url_citation: { url: 'u' } }] },
        logprobs: { content: [{ token: 'x' }] },
      },
    ],
  },
  { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }] } }] },
  {
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [
            { index: 0, function: { arguments: ':1}' } },
            { index: 1, id: 'b', function: { name: 'g', arguments: '{}' } },
          ],
        },
      },
    ],
  },
  { choices: [{ index: 0, delta: { function_call: { name: 'h', arguments: '1' } } }] },
  { choices: [{ index: 0, delta: { reasoning_details: [{ type: 'reasoning.text', text: 't', signature: 's', index: 0 }] } }] },
  {
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id: 'c', extra_content: { google: { thought_signature: 's' } } }], audio: {} } },
    ],
  },
  { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
  { choices: [{ index: 0, delta: {}, finish_reason: 'length' }], x_vendor: { usage: {} } },
]

const odd = fc.oneof(
  fc.constantFrom<Json>(null, '', 0, -1, 1, 2, 1e300, true, [], {}, 'x', 'message', 'reasoning', 'function_call', ['x'], [{}]),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
)

/** The value with one location in it replaced or removed. */
const bent = (value: Json): fc.Arbitrary<Json> => {
  if (typeof value !== 'object' || value === null) return odd
  const keys = Object.keys(value)
  if (keys.length === 0) return odd
  return fc.constantFrom(...keys).chain(key => {
    const inner = (value as JsonObject)[key] ?? null
    const put = (replaced: Json | undefined): Json => {
      if (Array.isArray(value)) return (value as readonly Json[]).map((each, at) => (String(at) === key ? (replaced ?? null) : each))
      return { ...(value as JsonObject), [key]: replaced }
    }
    return fc
      .oneof({ arbitrary: bent(inner), weight: 3 }, { arbitrary: odd, weight: 1 }, { arbitrary: fc.constant(undefined), weight: 1 })
      .map(put)
  })
}

const frames = (pool: readonly JsonObject[]): fc.Arbitrary<readonly Frame[]> =>
  fc
    .array(
      fc.oneof(
        { arbitrary: fc.constantFrom(...pool), weight: 6 },
        { arbitrary: fc.constantFrom(...pool).chain(body => bent(body)), weight: 3 },
      ),
      { maxLength: 25 },
    )
    .map(bodies => bodies.map(body => ({ data: JSON.stringify(body) ?? '' })))

describe.each([
  ['responses', responses],
  ['chat', chat],
  ['messages', everyEvent],
] as const)('%s', (name, pool) => {
  test('any frames give one legal stream on both sides', () => {
    const provider = providerDialects[name] ?? chatProvider
    fc.assert(
      fc.property(frames(pool), sent => {
        const events = decode(provider, sent)
        expect(faultsOf(events).filter(fault => !fault.includes('do not add up'))).toEqual([])
        const encoded = encode(events)
        const wires = encoded.map(({ data }) => JSON.parse(data) as JsonObject)
        expect(wires.map(({ sequence_number }) => sequence_number)).toEqual(encoded.map((_, at) => at))
        expect(encoded.slice(0, 2).map(({ event }) => event)).toEqual(['response.created', 'response.in_progress'])
        expect(encoded.filter(({ event }) => /^response\.(completed|incomplete|failed)$/.test(event ?? ''))).toHaveLength(1)
        const opened = wires.filter(({ type }) => type === 'response.output_item.added')
        expect(wires.filter(({ type }) => type === 'response.output_item.done')).toHaveLength(opened.length)
        const ids = opened.map(({ item }) => (item as JsonObject).id)
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids.every(id => typeof id === 'string' && id !== '')).toBe(true)
      }),
      { numRuns: inject('isLongRun') ? 3_000 : 100 },
    )
  })

  test('the vendor’s own SDK reads the encoded stream', async () => {
    const provider = providerDialects[name] ?? chatProvider
    await fc.assert(
      fc.asyncProperty(frames(pool), async sent => {
        const events = decode(provider, sent)
        const text = writeFrames(encode(events))
        const fetch = async (): Promise<Response> => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
        const client = new OpenAI({ apiKey: 'x', baseURL: 'http://gateway.test/v1', fetch, maxRetries: 0 })
        const final = client.responses.stream({ model: 'm', input: 'x' }).finalResponse()
        const { outcome } = fold(events)
        if (outcome.status === 'failed') await expect(final).rejects.toThrow(OpenAI.APIError)
        else expect((await final).status).toBe(outcome.status)
      }),
      { numRuns: inject('isLongRun') ? 300 : 30 },
    )
  })

  test('any body gives a response, and any failed body a failure', () => {
    const provider = providerDialects[name] ?? chatProvider
    fc.assert(
      fc.property(
        fc.oneof(
          fc.constantFrom(...pool).chain(body => bent(body)),
          odd,
        ),
        fc.integer({ min: 100, max: 599 }),
        (body, status) => {
          const wire = (typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}) as JsonObject
          expect(provider.decodeResponse((wire.response ?? wire) as JsonObject).outcome.status).toMatch(/completed|incomplete|failed/)
          expect(provider.decodeFailure({ status, body: JSON.stringify(body) ?? '', header: () => undefined, now: 0 }).message).not.toBe('')
        },
      ),
      { numRuns: inject('isLongRun') ? 2_000 : 200 },
    )
  })
})

/** Quadratic work shows with a quarter of the input too. */
const scaled = (count: number): number => (inject('isLongRun') ? count : count / 4)

describe('large and deep input', () => {
  const item = (body: JsonObject): readonly Frame[] => [
    { data: JSON.stringify({ type: 'response.output_item.done', output_index: 0, item: body }) },
  ]
  const deep = `{"type":"response.output_item.done","output_index":0,"item":{"type":"x","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  const ends = (sent: readonly Frame[]) => encode(decode(providerDialects.responses ?? chatProvider, sent)).at(-1)?.event

  test('is refused if too deep to be serialized, while brackets in a text do not count as depth', () => {
    expect(ends([{ data: deep }])).toBe('response.failed')
    const text = `${'['.repeat(5000)}\\"{`
    const frames = item({ type: 'message', content: [{ type: 'output_text', text }] })
    expect(fold(decode(providerDialects.responses ?? chatProvider, frames)).output).toMatchObject([{ content: [{ text }] }])
  })

  test.each<[string, () => unknown]>([
    [
      `a list of ${scaled(300_000)} probabilities`,
      () => ends([{ data: `{"type":"response.output_text.delta","delta":"x","logprobs":[${'{},'.repeat(scaled(300_000))}{}]}` }]),
    ],
    [
      `a snapshot of ${scaled(50_000)} items`,
      () => ends([{ data: `{"type":"response.completed","response":{"output":[${'{},'.repeat(scaled(50_000))}{}]}}` }]),
    ],
    [
      `a message of ${scaled(50_000)} parts`,
      () => ends(item({ type: 'message', content: Array.from({ length: scaled(50_000) }, () => ({ type: 'output_text', text: 'x' })) })),
    ],
    [
      `${scaled(20_000)} calls in one chunk`,
      () =>
        decode(chatProvider, [
          {
            data: JSON.stringify({
              choices: [
                {
                  delta: {
                    tool_calls: Array.from({ length: scaled(20_000) }, (_, index) => ({ index, function: { name: 'f', arguments: '{' } })),
                  },
                },
              ],
            }),
          },
        ]),
    ],
    [
      `${scaled(200_000)} pieces of one call, each with its name`,
      () =>
        decode(chatProvider, [
          { data: '{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"["}}]}}]}' },
          ...Array.from({ length: scaled(200_000) }, () => ({
            data: '{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{},"}}]}}]}',
          })),
        ]),
    ],
  ])('is processed in less than quadratic time: %s', (_, run) => {
    expect(() => run()).not.toThrow()
  })
})
