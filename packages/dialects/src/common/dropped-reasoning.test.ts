import { describe, expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import type { Item } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'

const user = (text: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'text', text }] })
const assistant = (text: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] })
const reasoning = (text: string, encrypted_content?: string): Item => ({
  type: 'reasoning',
  summary: [text],
  ...(encrypted_content !== undefined && { encrypted_content }),
})

const request = (input: readonly Item[]): InferenceRequest => ({
  prompt: { input },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
})
const dropped = (name: keyof typeof providerDialects, inference: InferenceRequest, quirks: Quirks = {}): readonly Warning[] =>
  (providerDialects[name]?.encodeRequest(inference, offer, quirks).warnings ?? []).filter(({ code }) => code === 'reasoning_state_dropped')

describe.each([
  { name: 'chat' as const, quirks: {} },
  { name: 'messages' as const, quirks: {} },
  { name: 'bedrock' as const, quirks: {} },
  { name: 'responses' as const, quirks: { sealedReasoning: true } },
])('reasoning of another model without state, for $name', ({ name, quirks }) => {
  test('gives one warning for a request, at the first item', () => {
    const input = [user('a'), reasoning('one'), assistant('b'), user('c'), reasoning('two'), assistant('d'), user('e')]
    expect(dropped(name, request(input), quirks)).toMatchObject([
      { param: 'input[1]', message: expect.stringMatching(/2 (?:items|turns)/) },
    ])
  })
  test('gives no warning if it has no text', () => {
    expect(dropped(name, request([user('a'), reasoning(''), assistant('b'), user('c')]), quirks)).toEqual([])
  })
  test('gives a warning with the client’s path', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', reasoning_content: 'hm' },
      { role: 'user', content: 'c' },
    ]
    const decoded = chatClient.decodeRequest({ model: 'm', messages })
    if (name !== 'chat') expect(dropped(name, decoded, quirks)).toMatchObject([{ param: 'messages[1]' }])
  })
})

test('reasoning text is sent without a warning to a provider that accepts it', () => {
  const decoded = request([user('a'), reasoning('one'), assistant('b'), user('c')])
  expect(dropped('chat', decoded, { reasoningField: 'reasoning_content' })).toEqual([])
  expect(dropped('responses', decoded)).toEqual([])
})

test('a Chat client’s own reasoning text is sent without a warning to a Chat host', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b', reasoning_content: 'hm' },
    { role: 'user', content: 'c' },
  ]
  const decoded = chatClient.decodeRequest({ model: 'm', messages })
  expect(dropped('chat', decoded)).toEqual([])
  expect(providerDialects.chat.encodeRequest(decoded, offer, {}).body.messages).toEqual(messages)
})

test('reasoning text of a Responses client gives a warning if the provider accepts only encrypted reasoning', () => {
  const input = [
    { role: 'user', content: 'a' },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
    { role: 'user', content: 'c' },
  ]
  expect(dropped('responses', responsesClient.decodeRequest({ model: 'm', input }), { sealedReasoning: true })).toMatchObject([
    { param: 'input[1]' },
  ])
})
