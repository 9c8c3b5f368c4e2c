import { openai } from '@signalbox/providers'
import { expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import { quirksFor } from '../protocol/provider.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { responsesClient } from './client.ts'
import { responsesProvider } from './provider.ts'

const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
const chat = chatClient.decodeRequest({
  model: 'm',
  messages: [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: 'I look.', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'Blue.' },
    { role: 'assistant', content: 'It is blue.' },
    { role: 'user', content: 'And now?' },
    { role: 'assistant', content: 'I look again.', tool_calls: [{ ...call, id: 'c2' }] },
    { role: 'tool', tool_call_id: 'c2', content: 'Grey.' },
  ],
})
const messages = messagesClient.decodeRequest({
  model: 'm',
  max_tokens: 99,
  messages: [
    { role: 'user', content: 'Look.' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'c1', name: 'look', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Blue.' }] },
    { role: 'assistant', content: 'It is blue.' },
    { role: 'user', content: 'And now?' },
    { role: 'assistant', content: 'It is' },
  ],
})

const phases = (request: InferenceRequest, model = 'gpt-5.6-sol') => {
  const provider = openai({ apiKey: 'k' })
  const quirks = quirksFor(provider, { ...offer, model, api: 'responses' })
  const { body, warnings } = responsesProvider.encodeRequest(request, { ...offer, model }, quirks)
  expect(warnings).toEqual([])
  return (body.input as readonly JsonObject[]).flatMap(({ role, phase = 'none' }) => (role ? [`${role}: ${phase}`] : []))
}

test('assistant text of a chat client before a call is commentary, and before the next user message the final answer', () => {
  const expected = ['user: none', 'assistant: commentary', 'assistant: final_answer', 'user: none', 'assistant: commentary']
  for (const model of ['gpt-5.3-codex', 'gpt-5.4', 'gpt-5.6-sol', 'gpt-6-luna']) expect(phases(chat, model)).toEqual(expected)
})

test('text of a Messages client has phases too, but not the text that the model continues', () => {
  const expected = ['user: none', 'assistant: commentary', 'assistant: final_answer', 'user: none', 'assistant: none']
  expect(phases(messages)).toEqual(expected)
})

test('models that do not know phases get none', () => {
  for (const model of ['gpt-5.2', 'gpt-5.3', 'o3', 'gpt-4.1', 'gpt-5.4-chat-latest'])
    expect(phases(chat, model).every(each => each.endsWith('none'))).toBe(true)
})

test('messages of a Responses client keep the phase that they came with, or none', () => {
  const input = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: 'I look.', phase: 'commentary' },
    { role: 'assistant', content: 'It is blue.' },
    { role: 'user', content: 'And now?' },
  ]
  const { prompt, ...request } = responsesClient.decodeRequest({ model: 'm', input })
  for (const each of [
    { ...request, prompt },
    { ...request, prompt: { ...prompt, max_tool_calls: 3 } },
  ])
    expect(phases(each)).toEqual(expect.arrayContaining(['assistant: commentary', 'assistant: none']))
})
