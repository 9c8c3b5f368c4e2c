import { describe, expect, test } from 'vitest'
import {
  clientFor,
  clients,
  content,
  encode,
  eventStream,
  json,
  params,
  request,
  stream,
  streamed,
  whole,
} from '../../test/anthropic-sdk.ts'
import { decode, metadataOf } from '../../test/laws.ts'
import { readStrictly } from '../../test/messages-client-reader.ts'
import { codes, type ErrorCode } from '../errors/codes.ts'
import { errorBody, GatewayError } from '../errors/gateway-error.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { unfold } from '../protocol/fold.ts'
import type { Item } from '../protocol/item.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { writeFrames } from '../sse/write.ts'
import { messagesClient } from './client.ts'
import { messagesProvider } from './provider.ts'

const response = (...output: readonly Item[]): InferenceResponse => ({
  id: 'theirs',
  model: 'theirs',
  created_at: 1,
  output,
  outcome: { status: 'completed' },
  usage: { input_tokens: 30, output_tokens: 4, cached_tokens: 10, cache_write_tokens: 5, reasoning_tokens: 2 },
})

const full = response(
  { type: 'reasoning', summary: ['hm', 'well'], encrypted_content: 'sealed' },
  { type: 'reasoning', summary: [], encrypted_content: 'withheld', redacted: true },
  {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Héllo', annotations: [{ type: 'url_citation', url: 'https://x', title: 'X' }] }],
    status: 'completed',
  },
  { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Köln"}' },
  { type: 'function_call', call_id: 'c2', name: 'now', arguments: '' },
)

describe.each(Object.keys(clients))('the Anthropic SDK %s', version => {
  const expected = {
    id: 'msg_ours',
    model: 'model',
    role: 'assistant',
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 15, cache_read_input_tokens: 10, cache_creation_input_tokens: 5, output_tokens: 4 },
  }
  const blocks = [
    { type: 'thinking', thinking: 'hm\n\nwell', signature: 'sealed' },
    { type: 'redacted_thinking', data: 'withheld' },
    {
      type: 'text',
      text: 'Héllo',
      citations: [{ type: 'web_search_result_location', url: 'https://x', title: 'X', cited_text: '', encrypted_index: '' }],
    },
    { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Köln' } },
    { type: 'tool_use', id: 'c2', name: 'now', input: {} },
  ]

  test('reads a whole answer', async () => {
    const message = await whole(version, messagesClient.encodeResponse(full, request, metadataOf()))
    expect(message).toMatchObject(expected)
    expect(content(message.content)).toEqual(blocks)
  })

  test('reads a stream', async () => {
    const message = await streamed(version, stream(unfold(full)))
    expect(message).toMatchObject(expected)
    expect(content(message.content)).toEqual(blocks)
  })

  test('emits text, thinking and arguments as they arrive, and no pings', async () => {
    const events: string[] = []
    const ping = writeFrames(messagesClient.keepAlive ? [messagesClient.keepAlive] : [])
    const text = stream(unfold(full)).replaceAll('event: content_block_delta', `${ping}event: content_block_delta`)
    await clientFor(version, () => eventStream(text))
      .messages.stream(params)
      .on('text', text => events.push(`text ${text}`))
      .on('thinking', text => events.push(`thinking ${text}`))
      .on('signature', text => events.push(`signature ${text}`))
      .on('citation', ({ type }) => events.push(`citation ${type}`))
      .on('inputJson', text => events.push(`input ${text}`))
      .done()
    expect(events).toEqual([
      'thinking hm',
      'thinking \n\nwell',
      'signature sealed',
      'text Héllo',
      'citation web_search_result_location',
      'input {"city":"Köln"}',
    ])
  })

  test('iterates over a stream, with the gateway’s own fields', async () => {
    const metadata = metadataOf({ routing: { provider: 'p', provider_model_id: 'pm', model_canonical: 'm', routing_strategy: 's' } })
    const text = writeFrames(messagesClient.encodeEvents(request, () => metadata).write(unfold(full)))
    const events = await clientFor(version, () => eventStream(text)).messages.create({ ...params, stream: true })
    const received: { readonly type: string }[] = []
    for await (const event of events) received.push(event)
    const types = received.map(({ type }) => type)
    expect(types.at(0)).toBe('message_start')
    expect(types.at(-1)).toBe('message_stop')
    expect(received.filter(({ type }) => type === 'message_delta')).toMatchObject([{ routing_metadata: { provider: 'p' } }])
  })

  test('reports an error in the middle of a stream', async () => {
    const events: readonly InferenceEvent[] = [
      ...unfold(full).slice(0, 5),
      { type: 'finished', outcome: { status: 'failed', error: { kind: 'overloaded', message: 'Too busy.', provider: 'p' } } },
    ]
    await expect(streamed(version, stream(events))).rejects.toMatchObject({
      error: { error: { type: 'overloaded_error', message: 'Too busy.' } },
    })
  })

  test('reports an error before the first event', async () => {
    const failed: InferenceEvent = {
      type: 'finished',
      outcome: { status: 'failed', error: { kind: 'rate_limited', message: 'Too fast.' } },
    }
    await expect(streamed(version, stream([failed]))).rejects.toMatchObject({ error: { error: { type: 'rate_limit_error' } } })
  })

  test('counts tokens', async () => {
    const counted = await clientFor(version, () => json({ input_tokens: 7 })).messages.countTokens({
      model: 'm',
      messages: params.messages,
    })
    expect(counted.input_tokens).toBe(7)
  })

  test.each(Object.keys(codes) as readonly ErrorCode[])('throws the error class for %s', async code => {
    const body = { ...errorBody(new GatewayError(code, { message: 'No.', param: 'p' })), request_id: 'r' }
    const answered = clientFor(version, () => json(messagesClient.encodeError(body), body.status)).messages.create(params)
    await expect(answered).rejects.toMatchObject({
      status: body.status,
      type: errorTypes[body.status],
      error: { type: 'error', error: { message: 'No.', code, param: 'p' }, request_id: 'r' },
    })
  })
})

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'conflict_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  426: 'invalid_request_error',
  429: 'rate_limit_error',
  499: 'invalid_request_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

test('streamed citations of documents are passed on unchanged, each at its own text', () => {
  const citation = (start: number): JsonObject => ({ type: 'char_location', document_index: 0, cited_text: 'x', start_char_index: start })
  const block = (index: number, text: string, ...citations: readonly JsonObject[]): readonly JsonObject[] => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...citations.map(each => ({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation: each } })),
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  ]
  const wires: readonly JsonObject[] = [
    { type: 'message_start', message: { id: 'msg_1', content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
    ...block(0, 'a', citation(1), citation(2)),
    ...block(1, 'b'),
    ...block(2, 'c', citation(3)),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ]
  const events = decode(
    messagesProvider,
    wires.map(wire => ({ event: String(wire.type), data: JSON.stringify(wire) })),
  )
  expect(readStrictly(encode(events)).message.content).toEqual([
    { type: 'text', text: 'a', citations: [citation(1), citation(2)] },
    { type: 'text', text: 'b', citations: null },
    { type: 'text', text: 'c', citations: [citation(3)] },
  ])
})
