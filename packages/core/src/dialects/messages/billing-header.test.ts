import { expect, test } from 'vitest'
import { offer } from '../../../test/dialects/laws.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Json, JsonObject } from '../../protocol/wire.ts'
import { chatProvider, geminiProvider, messagesClient, messagesProvider } from '../index.ts'

const header = 'x-anthropic-billing-header: cc_version=2.1.330.a1b; cc_entrypoint=cli; cch=0f3c1;'
const block = { type: 'text', text: header }
const rules = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }
const messages = [{ role: 'user', content: 'Hi' }]

const read = (system: Json, more: JsonObject = {}) =>
  messagesClient.decodeRequest({ model: 'm', max_tokens: 9, ...(system !== null && { system }), messages, ...more })
/** Both passed through and rebuilt. */
const bodies = (system: Json, quirks: Quirks = {}): readonly JsonObject[] => {
  const asked = read(system)
  return [asked, { ...asked }].map(request => messagesProvider.encodeRequest(request, offer, quirks).body)
}

test('it stays where it was for an offer that takes it', () => {
  for (const body of bodies([block, rules], { billing_header: true })) expect(body.system).toEqual([block, rules])
  for (const body of bodies([block], { billing_header: true })) expect(body.system).toEqual([block])
})

test('any other offer gets the prompt without it, and nothing is said', () => {
  for (const body of bodies([block, rules])) expect(body.system).toEqual([rules])
  for (const body of bodies([block])) expect(body).not.toHaveProperty('system')
  for (const body of bodies(`${header}\nBe brief.`)) expect(body.system).toBe('Be brief.')
  const asked = read([block, rules])
  for (const dialect of [chatProvider, geminiProvider]) {
    const { body, warnings } = dialect.encodeRequest(asked, { ...offer, dialect: dialect.name }, {})
    expect(JSON.stringify(body)).not.toContain('billing')
    expect(JSON.stringify(warnings)).not.toContain('billing')
  }
})

test('it is no part of the prompt', () => {
  const plain = read([rules])
  expect(read([block, rules]).prompt).toEqual(plain.prompt)
})

test('words that only speak of it, and a block further behind, belong to the prompt', () => {
  const later = [rules, block]
  for (const body of bodies(later)) expect(body.system).toEqual(later)
  const spoken = [{ type: 'text', text: `What is ${header}` }]
  expect(bodies(spoken)[0]?.system).toEqual(spoken)
})

test('it is not a header of the call', () => {
  const { headers } = messagesProvider.encodeRequest(read([block, rules]), offer, { billing_header: true })
  expect(Object.keys(headers ?? {})).toEqual(['anthropic-version'])
})
