import { describe, expect, test } from 'vitest'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'
import { closingText, closingWarning, openingText, openingWarning } from './opening-turn.ts'

const history = [
  { role: 'assistant', content: 'Hello, how can I help?' },
  { role: 'user', content: 'Hi' },
]
const request = chatClient.decodeRequest({ model: 'm', messages: history })
const opened = chatClient.decodeRequest({ model: 'm', messages: history.toReversed() })

const encode = (dialect: ProviderDialect, request: InferenceRequest, quirks: Quirks = {}) => {
  const { body, warnings } = dialect.encodeRequest(request, { provider: 'p', model: 'm', api: dialect.name }, quirks)
  return { turns: (body.contents ?? body.messages ?? body.input) as readonly { readonly role: string }[], warnings }
}

test.each(['messages', 'gemini', 'bedrock'] as const)(
  'a conversation that begins with the assistant gets a note of the user first for %s',
  name => {
    const { turns, warnings } = encode(providerDialects[name], request)
    expect(turns.map(({ role }) => role)).toEqual(['user', name === 'gemini' ? 'model' : 'assistant', 'user'])
    expect(JSON.stringify(turns[0])).toContain(openingText)
    expect(warnings).toContainEqual(openingWarning)
    expect(encode(providerDialects[name], opened).warnings).toEqual([])
  },
)

test.each(['responses', 'chat'] as const)('a conversation that begins with the assistant is sent unchanged to %s', name => {
  const { turns, warnings } = encode(providerDialects[name], request)
  expect(turns.map(({ role }) => role)).toEqual(['assistant', 'user'])
  expect(warnings).toEqual([])
})

test('a Messages client’s own first turn is sent unchanged to a Messages provider', () => {
  const request = messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages: history })
  for (const quirks of [{}, { sampling: 'none' as const }]) {
    const offer = { provider: 'p', model: 'm', api: 'messages' }
    const { body, warnings } = providerDialects.messages.encodeRequest(request, offer, quirks)
    expect((body.messages as readonly unknown[]).length).toBe(2)
    expect(warnings).toEqual([])
  }
})

describe.each(['messages', 'gemini', 'bedrock'] as const)('a conversation that ends with the assistant, sent to %s,', name => {
  const noPrefill = { noPrefill: true }

  test('gets a note of the user last if the model does not continue it', () => {
    const { turns, warnings } = encode(providerDialects[name], opened, noPrefill)
    expect(turns.map(({ role }) => role)).toEqual(['user', name === 'gemini' ? 'model' : 'assistant', 'user'])
    expect(JSON.stringify(turns.at(-1))).toContain(closingText)
    expect(warnings).toContainEqual(closingWarning)
  })

  test('is unchanged if the model continues it', () => {
    expect(encode(providerDialects[name], opened).turns).toHaveLength(2)
    expect(encode(providerDialects[name], request, noPrefill).warnings).not.toContainEqual(closingWarning)
  })

  test('is recognized although items without a message come after it', () => {
    const added = { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }] }
    const input = [...history.toReversed(), added]
    const { turns } = encode(providerDialects[name], responsesClient.decodeRequest({ model: 'm', input }), noPrefill)
    expect(turns.at(-1)?.role).toBe('user')
  })
})
