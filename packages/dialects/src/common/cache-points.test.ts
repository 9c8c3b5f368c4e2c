import { amazonBedrock } from '@signalbox/providers'
import { describe, expect, test } from 'vitest'
import { alibaba } from '../../../providers/src/chinese-vendors.ts'
import { openrouter } from '../../../providers/src/hosts.ts'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import type { Quirks } from '../protocol/model.ts'
import { quirksFor } from '../protocol/provider.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'

const breakpoint = (text: string): JsonObject => ({
  role: 'user',
  content: [{ type: 'input_text', text, prompt_cache_breakpoint: { mode: 'explicit' } }],
})
const seven = responsesClient.decodeRequest({ model: 'm', input: ['1', '2', '3', '4', '5', '6', '7'].map(breakpoint) })

const encode = (name: 'messages' | 'bedrock' | 'chat', request: InferenceRequest, quirks: Quirks = {}) => {
  const { body, warnings } = providerDialects[name].encodeRequest(request, offer, quirks)
  return { body, text: JSON.stringify(body), warnings }
}
const marksIn = (text: string): number => text.split(/"(?:cache_control|cachePoint)":/).length - 1
/** The texts that have a mark. */
const markedTexts = (text: string): readonly string[] =>
  [...text.matchAll(/"text":"(\w+)"(?:,"cache_control"|\},\{"cachePoint")/g)].map(match => match[1] ?? '')

test.each(['messages', 'bedrock'] as const)('of more than four cache points, the last four are sent to %s, with a warning', name => {
  const { text, warnings } = encode(name, seven)
  expect(markedTexts(text)).toEqual(['4', '5', '6', '7'])
  expect(warnings).toEqual([
    {
      code: 'unsupported_parameter',
      param: 'input[0].content[0]',
      message: expect.stringMatching(/\(and 2 more like it\) is a cache marker too many: this provider accepts 4; the last ones were kept/),
    },
  ])
})

test('the marks of tools and of the system prompt count first', () => {
  const request = chatClient.decodeRequest({
    model: 'm',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Rules', cache_control: { type: 'ephemeral' } }] },
      ...['a', 'b', 'c'].map(text => ({ role: 'user', content: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }] })),
    ],
    tools: [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }],
  })
  const { body, text } = encode('messages', request)
  expect(markedTexts(text).toSorted()).toEqual(['Rules', 'a', 'b', 'c'])
  expect(body.tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }])
})

test('a mark of one hour after one of five minutes is sent as one of five minutes', () => {
  const part = (text: string, ttl: string): JsonObject => ({ type: 'text', text, cache_control: { type: 'ephemeral', ttl } })
  const content = [part('a', '1h'), part('b', '5m'), part('c', '1h')]
  const { text, warnings } = encode('messages', chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content }] }))
  expect(text.split('"ttl":"1h"')).toHaveLength(2)
  expect(warnings).toMatchObject([{ param: 'messages[0].content[2]' }])
})

describe('a mark on a tool result', () => {
  const called = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const conversation = (result: JsonObject) =>
    chatClient.decodeRequest({
      model: 'm',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [called] },
        { role: 'tool', tool_call_id: 'c1', ...result },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    })
  const onMessage = conversation({ content: 'r', cache_control: { type: 'ephemeral' } })
  const onPart = conversation({ content: [{ type: 'text', text: 'r', cache_control: { type: 'ephemeral' } }] })

  test.each([
    ['the message', onMessage],
    ['its text', onPart],
  ])('is sent after the result to Bedrock, and on it to Messages: on %s', (_, request) => {
    const { body, warnings } = encode('bedrock', request)
    const last = (body.messages as readonly JsonObject[]).at(-1)
    expect(last?.content).toEqual([{ toolResult: { toolUseId: 'c1', content: [{ text: 'r' }] } }, { cachePoint: { type: 'default' } }])
    expect(warnings).toEqual([])
    expect(encode('messages', request)).toMatchObject({ text: expect.stringContaining('"cache_control"'), warnings: [] })
  })
})

test('a mark for the whole request is a cache point at the end for Bedrock, and counts', () => {
  const part = (text: string): JsonObject => ({ type: 'text', text, cache_control: { type: 'ephemeral' } })
  const request = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    cache_control: { type: 'ephemeral', ttl: '1h' },
    messages: [{ role: 'user', content: [part('a'), part('b'), part('c'), part('d'), { type: 'text', text: 'e' }] }],
  })
  const { body, text } = encode('bedrock', request)
  expect(marksIn(text)).toBe(4)
  expect((body.messages as readonly { readonly content: readonly unknown[] }[])[0]?.content.at(-1)).toEqual({
    cachePoint: { type: 'default', ttl: '1h' },
  })
})

test('Nova models take no mark on tools', () => {
  const request = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'f', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } }],
  })
  const sold = { provider: 'amazon-bedrock', model: 'amazon.nova-pro-v1:0', api: 'bedrock' }
  const { text, warnings } = encode('bedrock', request, quirksFor(amazonBedrock(), sold))
  expect(marksIn(text)).toBe(0)
  expect(warnings).toMatchObject([{ param: 'tools[0]' }])
})

describe('hosts of Chat Completions', () => {
  const request = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    system: [{ type: 'text', text: 'Rules', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] },
      { role: 'user', content: [{ type: 'text', text: 'Go', cache_control: { type: 'ephemeral' } }] },
    ],
  })

  test.each([
    ['openrouter', openrouter({ apiKey: 'k' })],
    ['alibaba', alibaba({ apiKey: 'k' })],
  ])('that know cache marks get them on text parts: %s', (_, provider) => {
    const { body, warnings } = encode('chat', request, quirksFor(provider, { provider: 'p', model: 'm', api: 'chat' }))
    const cache_control = { type: 'ephemeral' }
    expect(body.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Rules', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello', cache_control }] },
      { role: 'user', content: [{ type: 'text', text: 'Go', cache_control }] },
    ])
    expect(warnings).toEqual([])
  })

  test('that do not know them get plain text, with one warning', () => {
    const { body, warnings } = encode('chat', request)
    expect(body.messages).toMatchObject([{ content: 'Rules' }, { content: 'Hi' }, { content: 'Hello' }, { content: 'Go' }])
    expect(warnings).toHaveLength(1)
  })
})
