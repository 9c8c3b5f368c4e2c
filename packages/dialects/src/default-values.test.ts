import { describe, expect, test } from 'vitest'
import { offer } from '../test/laws.ts'
import { chatClient } from './chat/client.ts'
import { messagesClient } from './messages/client.ts'
import { providerDialects } from './providers.ts'
import { responsesClient } from './responses/client.ts'

// Fields whose default differs between two dialects: a client that leaves one out gets the default of its own dialect.

const parameters = { type: 'object', properties: { path: { type: 'string' }, limit: { type: 'integer' } }, required: ['path'] } as const
const user = { role: 'user', content: 'Hi' }
const asked = {
  'a chat client': chatClient.decodeRequest({
    model: 'm',
    messages: [user],
    tools: [{ type: 'function', function: { name: 'read', parameters } }],
  }),
  'a chat client with legacy functions': chatClient.decodeRequest({
    model: 'm',
    messages: [user],
    functions: [{ name: 'read', parameters }],
  }),
  'a Messages client': messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [user],
    tools: [{ name: 'read', input_schema: parameters }],
  }),
}

describe.each(Object.entries(asked))('a tool of %s without `strict`', (_, request) => {
  test('is not strict at a Responses provider, which makes a schema strict by default', () => {
    expect(providerDialects.responses.encodeRequest(request, offer, {}).body.tools).toMatchObject([{ name: 'read', strict: false }])
  })

  test.each(['chat', 'messages', 'gemini', 'bedrock'] as const)('has no `strict` at a %s provider, which has the same default', name => {
    expect(JSON.stringify(providerDialects[name].encodeRequest(request, offer, {}).body)).not.toContain('strict')
  })
})

test('a Responses client that leaves `strict` out gets the default of the Responses API, even if the prompt was changed', () => {
  const { prompt, ...request } = responsesClient.decodeRequest({
    model: 'm',
    input: 'Hi',
    tools: [{ type: 'function', name: 'read', parameters }],
  })
  const { body } = providerDialects.responses.encodeRequest({ ...request, prompt: { ...prompt, temperature: 0 } }, offer, {})
  expect(JSON.stringify(body.tools)).not.toContain('strict')
})
