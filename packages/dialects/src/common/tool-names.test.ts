import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import { chatProvider } from '../chat/provider.ts'
import { messagesClient } from '../messages/client.ts'
import { fold } from '../protocol/fold.ts'
import type { Item } from '../protocol/item.ts'
import { originalOf } from '../protocol/original.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesProvider } from '../responses/provider.ts'
import { plainName } from './tool-names.ts'

const long = `mcp.files/${'read'.repeat(40)}`
const taken = /^[a-zA-Z0-9_-]+$/

test('a valid name is unchanged, and distinct names stay distinct', () => {
  expect(plainName('get_weather-2', 0, 64)).toBe('get_weather-2')
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), { minLength: 2 }), names => {
      const sent = names.map(name => plainName(name, 0, 64))
      expect(new Set(sent).size).toBe(names.length)
      for (const name of sent) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    }),
  )
})

test('a name that is what another one is sent as is sent under a third name', () => {
  for (const { encodeRequest } of Object.values(providerDialects)) {
    const names = ['pay bank', plainName('pay bank', 0, 64)]
    const tools = names.map(name => ({ name, input_schema: { type: 'object' } }))
    const asked = messagesClient.decodeRequest({ model: 'm', max_tokens: 9, tools, messages: [{ role: 'user', content: 'x' }] })
    const { body, mapping } = encodeRequest(asked, offer, {})
    const sent = [...JSON.stringify(body.tools ?? body.toolConfig).matchAll(/"name":"([^"]+)"/g)].map(([, name = '']) => name)
    expect(sent.map(name => mapping?.toolNames?.get(name) ?? name)).toEqual(names)
    expect(new Set(sent).size).toBe(2)
  }
})

const request = messagesClient.decodeRequest({
  model: 'm',
  max_tokens: 9,
  tools: [
    { name: long, input_schema: { type: 'object' } },
    { name: 'plain', input_schema: { type: 'object' } },
  ],
  tool_choice: { type: 'tool', name: long },
  messages: [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: long, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'y' }] },
  ],
})
const nameOf = (sent: ReadonlyMap<string, string> | undefined): string => [...(sent ?? [])].find(([, name]) => name === long)?.[0] ?? ''
const called = (output: readonly Item[]): readonly unknown[] => output.flatMap(item => (item.type === 'function_call' ? [item.name] : []))

describe('a Chat provider', () => {
  const { body, mapping } = chatProvider.encodeRequest(request, offer, {})
  const sent = nameOf(mapping?.toolNames)
  const call = { index: 0, id: 'c', type: 'function', function: { name: sent, arguments: '{}' } }

  test('receives one name for a tool everywhere', () => {
    expect(sent).toMatch(taken)
    expect(sent.length).toBeLessThanOrEqual(64)
    expect(body).toMatchObject({
      tools: [{ function: { name: sent } }, { function: { name: 'plain' } }],
      tool_choice: { function: { name: sent } },
      messages: [{}, { tool_calls: [{ function: { name: sent } }] }, {}],
    })
  })
  test('has its calls converted back to the client’s name, whole and streamed', () => {
    const whole = chatProvider.decodeResponse({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }, mapping)
    expect(called(whole.output)).toEqual([long])
    const chunk = { choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }
    const decoder = chatProvider.decodeEvents(mapping)
    const events = [...decoder.read([{ data: JSON.stringify(chunk) }, { data: '[DONE]' }]), ...decoder.end()]
    expect(called(events.flatMap(event => (event.type === 'item_started' ? [event.item] : [])))).toEqual([long])
    expect(called(fold(events).output)).toEqual([long])
  })
  test('is sent only the allowed tools of a Chat client, under their new names', () => {
    const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: { type: 'object' } }, future: 1 })
    const request = chatClient.decodeRequest({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      tools: [tool(long), tool('plain')],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: long } }] },
      },
    })
    const encoded = chatProvider.encodeRequest(request, offer, {})
    expect(encoded.body.tools).toMatchObject([{ function: { name: sent }, future: 1 }])
    expect(encoded.body.tool_choice).toBe('required')
  })
})

describe('a Responses provider', () => {
  const { body, mapping } = responsesProvider.encodeRequest(request, offer, {})
  const sent = nameOf(mapping?.toolNames)
  const call = { type: 'function_call', id: 'fc', call_id: 'c', name: sent, arguments: '{}', status: 'completed' }
  const response = { id: 'r', status: 'completed', output: [call] }

  test('receives one name for a tool everywhere', () => {
    expect(sent).toMatch(taken)
    expect(sent.length).toBeLessThanOrEqual(128)
    expect(body).toMatchObject({
      tools: [{ name: sent }, { name: 'plain' }],
      tool_choice: { name: sent },
      input: [{}, { name: sent }, {}],
    })
  })
  test('has its calls converted back to the client’s name, whole and streamed', () => {
    expect(called(responsesProvider.decodeResponse(response, mapping).output)).toEqual([long])
    const decoder = responsesProvider.decodeEvents(mapping)
    const frames = [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...call, arguments: '' } },
      { type: 'response.function_call_arguments.done', output_index: 0, name: sent, arguments: '{}' },
      { type: 'response.output_item.done', output_index: 0, item: call },
      { type: 'response.completed', response },
    ].map(frame => ({ event: frame.type, data: JSON.stringify(frame) }))
    const events = decoder.read(frames)
    expect(called(events.flatMap(event => (event.type === 'item_started' ? [event.item] : [])))).toEqual([long])
    expect(called(fold(events).output)).toEqual([long])
  })
})

test('a request with valid names is not changed', () => {
  const request = chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'x' }], tools: [] })
  expect(chatProvider.encodeRequest(request, offer, {}).mapping).toBeUndefined()
  expect(originalOf(request)?.dialect).toBe('chat')
  expect(decode(chatProvider, [{ data: '[DONE]' }]).at(-1)).toMatchObject({ type: 'finished' })
})
