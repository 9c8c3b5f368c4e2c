import { describe, expect, test } from 'vitest'
import { offer } from '../../test/dialects/laws.ts'
import type { Item } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { chatClient, providerDialects, responsesClient } from './index.ts'

const user = (text: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'text', text }] })
const assistant = (text: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] })
const thought = (text: string, encrypted_content?: string): Item => ({
  type: 'reasoning',
  summary: [text],
  ...(encrypted_content !== undefined && { encrypted_content }),
})

const request = (input: readonly Item[]): InferenceRequest => ({
  prompt: { input },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
})
const dropped = (name: keyof typeof providerDialects, asked: InferenceRequest, quirks: Quirks = {}): readonly Warning[] =>
  (providerDialects[name]?.encodeRequest(asked, offer, quirks).warnings ?? []).filter(({ code }) => code === 'reasoning_state_dropped')

describe.each([
  { name: 'chat' as const, quirks: {} },
  { name: 'messages' as const, quirks: {} },
  { name: 'bedrock' as const, quirks: {} },
  { name: 'responses' as const, quirks: { sealed_reasoning: true } },
])('thoughts of another model without state, towards $name', ({ name, quirks }) => {
  test('are named once for a request, by the first of them', () => {
    const input = [user('a'), thought('one'), assistant('b'), user('c'), thought('two'), assistant('d'), user('e')]
    expect(dropped(name, request(input), quirks)).toMatchObject([
      { param: 'input[1]', message: expect.stringMatching(/2 (?:items|turns)/) },
    ])
  })
  test('are not named where they had no words', () => {
    expect(dropped(name, request([user('a'), thought(''), assistant('b'), user('c')]), quirks)).toEqual([])
  })
  test('are named by their place in the body of a caller of another language', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', reasoning_content: 'hm' },
      { role: 'user', content: 'c' },
    ]
    const asked = chatClient.decodeRequest({ model: 'm', messages })
    if (name !== 'chat') expect(dropped(name, asked, quirks)).toMatchObject([{ param: 'messages[1]' }])
  })
})

test('a provider that takes words back gets them, and nothing is named', () => {
  const asked = request([user('a'), thought('one'), assistant('b'), user('c')])
  expect(dropped('chat', asked, { reasoning_field: 'reasoning_content' })).toEqual([])
  expect(dropped('responses', asked)).toEqual([])
})

test('a caller of Chat Completions sends its own words on to a host of that language, and nothing is named', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b', reasoning_content: 'hm' },
    { role: 'user', content: 'c' },
  ]
  const asked = chatClient.decodeRequest({ model: 'm', messages })
  expect(dropped('chat', asked)).toEqual([])
  expect(providerDialects.chat.encodeRequest(asked, offer, {}).body.messages).toEqual(messages)
})

test('words of a caller of the Responses API that a provider with sealed reasoning refuses are named', () => {
  const input = [
    { role: 'user', content: 'a' },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
    { role: 'user', content: 'c' },
  ]
  expect(dropped('responses', responsesClient.decodeRequest({ model: 'm', input }), { sealed_reasoning: true })).toMatchObject([
    { param: 'input[1]' },
  ])
})
