import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import type { Item } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { orderToolResults } from './tool-result-order.ts'

const user = (text: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'text', text }] })
const assistant = (text: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] })
const call = (call_id: string): Item => ({ type: 'function_call', call_id, name: 'look', arguments: '{}' })
const result = (call_id: string): Item => ({ type: 'function_call_output', call_id, output: `of ${call_id}` })
const placesOf = (input: readonly Item[]): readonly number[] => orderToolResults(input).map(({ at }) => at)

test('ordered items stay in order', () => {
  const input = [user('a'), call('1'), call('2'), result('2'), result('1'), assistant('b'), call('3'), result('3'), user('c')]
  expect(placesOf(input)).toEqual([...input.keys()])
})

test('a result is moved right after the turn of its call', () => {
  expect(placesOf([call('1'), call('2'), result('1'), user('Hurry'), assistant('Yes'), result('2')])).toEqual([0, 1, 2, 5, 3, 4])
})

test('a repeated id belongs to the latest call, and a result without a call stays in place', () => {
  expect(placesOf([result('1'), call('1'), user('a'), result('1'), user('b'), call('1'), user('c'), result('1')])).toEqual([
    0, 1, 3, 2, 4, 5, 7, 6,
  ])
})

test('every item occurs once, and items that are not results keep their order', () => {
  const one = fc.constantFrom(user('u'), assistant('a'), call('1'), call('2'), result('1'), result('2'), result('3'))
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), input => {
      const places = placesOf(input)
      expect(places.toSorted((a, b) => a - b)).toEqual([...input.keys()])
      const others = places.filter(at => input[at]?.type !== 'function_call_output')
      expect(others).toEqual(others.toSorted((a, b) => a - b))
    }),
  )
})

describe('no message comes between a call and its result', () => {
  const request: InferenceRequest = {
    prompt: { input: [user('Look'), call('1'), call('2'), result('1'), user('Hurry'), assistant('Yes'), result('2')] },
    routing: { models: ['m'], allow_fallbacks: true },
    delivery: 'whole',
  }
  const sent = (name: string): unknown => {
    const { messages, contents } = providerDialects[name]?.encodeRequest(request, offer, {}).body ?? {}
    return messages ?? contents
  }
  test('for Chat', () =>
    expect(sent('chat')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: '1' }, { id: '2' }] },
      { role: 'tool', tool_call_id: '1' },
      { role: 'tool', tool_call_id: '2' },
      { role: 'user', content: 'Hurry' },
      { role: 'assistant', content: 'Yes' },
    ]))
  test('for Messages', () =>
    expect(sent('messages')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ id: '1' }, { id: '2' }] },
      { role: 'user', content: [{ tool_use_id: '1' }, { tool_use_id: '2' }, { text: 'Hurry' }] },
      { role: 'assistant', content: [{ text: 'Yes' }] },
    ]))
  test('for Gemini', () =>
    expect(sent('gemini')).toMatchObject([
      { role: 'user' },
      { role: 'model', parts: [{ functionCall: { id: '1' } }, { functionCall: { id: '2' } }] },
      { role: 'user', parts: [{ text: 'Hurry' }, { functionResponse: { id: '1' } }, { functionResponse: { id: '2' } }] },
      { role: 'model', parts: [{ text: 'Yes' }] },
    ]))
  test('for Bedrock', () =>
    expect(sent('bedrock')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ toolUse: { toolUseId: '1' } }, { toolUse: { toolUseId: '2' } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: '1' } }, { toolResult: { toolUseId: '2' } }, { text: 'Hurry' }] },
      { role: 'assistant', content: [{ text: 'Yes' }] },
    ]))
  test('except from a Chat client to a Chat provider', () => {
    const messages: readonly JsonObject[] = [
      { role: 'assistant', content: null, tool_calls: [{ id: '1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
      { role: 'user', content: 'Hurry' },
      { role: 'tool', tool_call_id: '1', content: 'x' },
    ]
    const request = chatClient.decodeRequest({ model: 'm', messages })
    expect(providerDialects.chat?.encodeRequest(request, offer, {}).body.messages).toEqual(messages)
  })
})
