import { chatClient, messagesClient, providerDialects, responsesClient } from '@signalbox/dialects'
import type { ClientDialect, InferenceRequest, JsonObject, ProviderDialect } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { maxTokensOfText } from './max-tokens.ts'
import { maxClaim, sizeOfPrompt } from './prompt-size.ts'

// Whatever text of a client a provider may put into the prompt is paid for, wherever in the body it is.

const words = 'The signal box controls trains and points. '.repeat(200)
const schema = { type: 'object', properties: { a: { type: 'string' } } }
const described = { ...schema, description: words }

const asked = (client: ClientDialect, body: JsonObject) => client.decodeRequest({ model: 'm', ...body })
const responses = (body: JsonObject) => asked(responsesClient, { input: 'Hi', ...body })
const chat = (body: JsonObject) => asked(chatClient, { messages: [{ role: 'user', content: 'Hi' }], ...body })
const messages = (body: JsonObject) => asked(messagesClient, { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...body })
const document = (fields: JsonObject) =>
  messages({
    messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' }, ...fields }] },
    ],
  })
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }

function jsonSchema(fields: JsonObject): JsonObject {
  return { type: 'json_schema', json_schema: { name: 'n', schema, ...fields } }
}

const places: readonly (readonly [where: string, InferenceRequest])[] = [
  ['the description of a response format, in Chat Completions', chat({ response_format: jsonSchema({ description: words }) })],
  [
    'the description of a response format, in Responses',
    responses({ text: { format: { type: 'json_schema', name: 'n', schema, description: words } } }),
  ],
  ['the schema of a response format', chat({ response_format: jsonSchema({ schema: described }) })],
  ['an unknown field of a response format', responses({ text: { format: { type: 'json_schema', name: 'n', schema, hint: words } } })],
  ['the context of a document', document({ context: words })],
  ['the title of a document', document({ title: words })],
  ['the examples of a tool', messages({ tools: [{ name: 'f', input_schema: schema, input_examples: [{ a: words }] }] })],
  ['the description of a tool', messages({ tools: [{ name: 'f', input_schema: schema, description: words }] })],
  ['an unknown field of a function', responses({ tools: [{ type: 'function', name: 'f', parameters: schema, notes: [words] }] })],
  [
    'the grammar of a custom tool',
    responses({ tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', syntax: 'lark', definition: words } }] }),
  ],
  ['the author of a message', chat({ messages: [{ role: 'user', name: words, content: 'Hi' }] })],
  ['an unknown field of a message', chat({ messages: [{ role: 'user', content: 'Hi', documents: [{ text: words }] }] })],
  ['an unknown field of a part', responses({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi', note: words }] }] })],
  [
    'an unknown field of a message with calls',
    chat({ messages: [{ role: 'assistant', tool_calls: [call, { ...call, id: 'd' }], audio: { text: words } }] }),
  ],
  ['an unknown field of settings', responses({ reasoning: { effort: 'low', note: words } })],
  ['an unknown field of the body', chat({ chat_template: words })],
  ['an extension', chat({ extensions: { template: words } })],
]

describe.each(Object.values(providerDialects))('at a provider of the dialect $name', dialect => {
  test.each(places)('%s is held and billed if it is sent', (_, request) => {
    if (!isSent(dialect, request)) return
    expect(sizeOfPrompt(request.prompt, true).max).toBeGreaterThanOrEqual(maxTokensOfText(words))
    expect(maxClaim(request.prompt)).toBeGreaterThanOrEqual(words.length)
  })
})

test.each(places)('%s is sent to some provider', (_, request) => {
  expect(Object.values(providerDialects).some(dialect => isSent(dialect, request))).toBe(true)
})

function isSent(dialect: ProviderDialect, request: InferenceRequest): boolean {
  const offer = { provider: 'p', model: 'm', api: dialect.name }
  return JSON.stringify(dialect.encodeRequest(request, offer, {}).body).includes(words.slice(0, 40))
}
