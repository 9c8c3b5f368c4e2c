import { expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { chatProvider } from '../chat/provider.ts'
import { geminiProvider } from '../gemini/provider.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { messagesClient } from './client.ts'
import { messagesProvider } from './provider.ts'

const header = 'x-anthropic-billing-header: cc_version=2.1.330.a1b; cc_entrypoint=cli; cch=0f3c1;'
const block = { type: 'text', text: header }
const rules = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }
const messages = [{ role: 'user', content: 'Hi' }]

const read = (system: Json, more: JsonObject = {}) =>
  messagesClient.decodeRequest({ model: 'm', max_tokens: 9, ...(system !== null && { system }), messages, ...more })
/** Both passed through and rebuilt. */
const bodies = (system: Json, quirks: Quirks = {}): readonly JsonObject[] => {
  const request = read(system)
  return [request, { ...request }].map(request => messagesProvider.encodeRequest(request, offer, quirks).body)
}

test('the billing header block stays in place for an offer that accepts it', () => {
  for (const body of bodies([block, rules], { billingHeader: true })) expect(body.system).toEqual([block, rules])
  for (const body of bodies([block], { billingHeader: true })) expect(body.system).toEqual([block])
})

test('any other offer gets the prompt without the billing header block, and no warning', () => {
  for (const body of bodies([block, rules])) expect(body.system).toEqual([rules])
  for (const body of bodies([block])) expect(body).not.toHaveProperty('system')
  for (const body of bodies(`${header}\nBe brief.`)) expect(body.system).toBe('Be brief.')
  const request = read([block, rules])
  for (const dialect of [chatProvider, geminiProvider]) {
    const { body, warnings } = dialect.encodeRequest(request, { ...offer, api: dialect.name }, {})
    expect(JSON.stringify(body)).not.toContain('billing')
    expect(JSON.stringify(warnings)).not.toContain('billing')
  }
})

test('the billing header block is not part of the prompt', () => {
  const plain = read([rules])
  expect(read([block, rules]).prompt).toEqual(plain.prompt)
})

test('text that mentions the billing header, or a later block with it, stays in the prompt', () => {
  const later = [rules, block]
  for (const body of bodies(later)) expect(body.system).toEqual(later)
  const mentioned = [{ type: 'text', text: `What is ${header}` }]
  expect(bodies(mentioned)[0]?.system).toEqual(mentioned)
})

test('the billing header block is not sent as an HTTP header', () => {
  const { headers } = messagesProvider.encodeRequest(read([block, rules]), offer, { billingHeader: true })
  expect(Object.keys(headers ?? {})).toEqual(['anthropic-version'])
})
