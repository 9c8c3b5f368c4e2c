import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chatProvider } from './chat/provider.ts'
import { messagesClient } from './messages/client.ts'
import { isObject, type Json, type JsonObject } from './protocol/wire.ts'
import { providerDialects } from './providers.ts'
import { responsesClient } from './responses/client.ts'
import { responsesProvider } from './responses/provider.ts'

// Each vendor accepts call ids of its own format only, and other vendors issue ids of any format.

/** Valid call ids by dialect, and the fields that contain them. */
const rules: Readonly<Record<string, RegExp>> = {
  responses: /^.{1,64}$/su,
  chat: /^.{1,40}$/su,
  messages: /^[a-zA-Z0-9_-]+$/,
  bedrock: /^[a-zA-Z0-9_-]{1,64}$/,
}
const fields: ReadonlySet<string> = new Set(['call_id', 'tool_call_id', 'tool_use_id', 'toolUseId'])
const isCall = ({ type }: JsonObject): boolean => type === 'tool_use' || type === 'function'

function idsIn(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(idsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([field, inner]) =>
    typeof inner === 'string' && (fields.has(field) || (field === 'id' && isCall(value))) ? [inner] : idsIn(inner),
  )
}

const anyId = fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' })
const conversations = {
  responses: (ids: readonly string[]) =>
    responsesClient.decodeRequest({
      model: 'm',
      input: ids.flatMap(call_id => [
        { type: 'function_call', call_id, name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id, output: 'x' },
      ]),
    }),
  messages: (ids: readonly string[]) =>
    messagesClient.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: ids.flatMap(id => [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
      ]),
    }),
}

describe.each(Object.entries(rules))('call ids for %s', (dialect, rule) => {
  test.each(Object.entries(conversations))('are valid for the calls of a %s client, whatever they are', (_, decode) => {
    fc.assert(
      fc.property(fc.uniqueArray(anyId, { minLength: 1, maxLength: 4 }), ids => {
        const offer = { provider: 'p', model: 'm', api: dialect }
        const sent = idsIn(providerDialects[dialect]?.encodeRequest(decode(ids), offer, {}).body)
        expect(sent.length).toBe(2 * ids.length)
        for (const id of sent) expect(id).toMatch(rule)
        const pairs = ids.map((_, at) => sent.slice(2 * at, 2 * at + 2))
        for (const [call, result] of pairs) expect(result).toBe(call)
        expect(new Set(sent).size).toBe(ids.length)
      }),
    )
  })
})

test.each([
  [responsesProvider, 'c'.repeat(64)],
  [chatProvider, 'c'.repeat(40)],
])('stay unchanged if they are valid', ({ name, encodeRequest }, id) => {
  const { body } = encodeRequest(conversations.responses([id]), { provider: 'p', model: 'm', api: name }, {})
  expect(idsIn(body)).toEqual([id, id])
})
