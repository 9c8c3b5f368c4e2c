import { expect, test } from 'vitest'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { responsesClient } from '../responses/client.ts'
import { unknownFieldWarnings } from './unknown-fields.ts'

const named = (prompt: Parameters<typeof unknownFieldWarnings>[0], dialect: string) =>
  unknownFieldWarnings(prompt, dialect).map(({ param }) => param)
const chat = (...messages: readonly JsonObject[]) => chatClient.decodeRequest({ model: 'm', messages }).prompt

test('an unknown field inside a message gives a warning with its path, for other dialects only', () => {
  const prompt = chat({ role: 'user', name: 'Ada', content: 'Hi' })
  expect(named(prompt, 'messages')).toEqual(['messages[0].name'])
  expect(named(prompt, 'chat')).toEqual([])
})

test('one warning covers all unknown fields', () => {
  const [warning, ...more] = unknownFieldWarnings(
    chat({ role: 'user', name: 'Ada', content: 'Hi' }, { role: 'user', name: 'Bob', content: 'Ho' }),
    'gemini',
  )
  expect(more).toEqual([])
  expect(warning?.message).toContain('1 more')
})

test('one assistant message counts as one, however many items it became', () => {
  const calls = ['a', 'b'].map(id => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }))
  const prompt = chat({ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Looking', audio: { id: 'x' }, tool_calls: calls })
  expect(unknownFieldWarnings(prompt, 'messages')).toHaveLength(1)
  expect(unknownFieldWarnings(prompt, 'messages')[0]?.message).not.toContain('more')
})

test('empty values give no warning', () => {
  const source = { type: 'url', url: 'https://a.example/1.pdf' }
  const { prompt } = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'document', source, context: null, citations: { enabled: false } }] }],
    tools: [{ name: 'look', input_schema: { type: 'object' }, eager_input_streaming: true }],
  })
  expect(named(prompt, 'chat')).toEqual([])
})

test('unknown fields of tools give a warning with their path', () => {
  const { prompt } = responsesClient.decodeRequest({
    model: 'm',
    input: 'Hi',
    tools: [{ type: 'function', name: 'look', parameters: {}, defer_loading: true }],
  })
  expect(named(prompt, 'bedrock')).toEqual(['tools[0].defer_loading'])
})

test('misspelled settings give a warning, also in nested objects', () => {
  const responses = (fields: JsonObject) => responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields }).prompt
  expect(named(responses({ reasoning: { effort: 'low', effrt: 'high' } }), 'gemini')).toEqual(['reasoning.effrt'])
  const schema = { type: 'object', zz: 1 }
  expect(named(responses({ text: { format: { type: 'json_schema', name: 'x', schema, strct: true } } }), 'gemini')).toEqual([
    'text.format.strct',
  ])
  const { prompt } = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 2000,
    messages: [{ role: 'user', content: 'Hi' }],
    thinking: { type: 'adaptive', bazz: 1 },
  })
  expect(named(prompt, 'chat')).toHaveLength(1)
  expect(
    named(chat({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/1', detial: 'low' } }] }), 'gemini'),
  ).toEqual(['messages[0].content[0].image_url.detial'])
})

test.each(['constructor', '__proto__', 'toString', 'message.content'])('a part of the type %s is unknown', type => {
  const { prompt } = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type, name: 'f', input_schema: { type: 'object' } }],
  })
  expect(named(prompt, 'chat')).toEqual([])
})
