import { expect, test } from 'vitest'
import { messagesClient, responsesClient } from '../dialects/index.ts'
import type { Offer } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { rules } from './exclude.ts'
import { needsOf } from './needs.ts'
import type { Candidate } from './plan.ts'

const price = { input: 1_000_000, output: 1_000_000 }

/** Why an offer is left out of a request; nothing if it is not. */
const whyNot = (fields: JsonObject, offer: Partial<Offer>, inputTokens = 1): string | undefined =>
  whyNotFor(responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields }), offer, inputTokens)

function whyNotFor(request: InferenceRequest, offer: Partial<Offer>, inputTokens = 1): string | undefined {
  const sold: Offer = { provider: 'p', provider_model_id: 'm', dialect: 'chat', price, ...offer }
  const candidate: Candidate = {
    model: { id: 'm', offers: [sold] },
    offer: sold,
    provider: { id: 'p', dialects: [], endpoint: () => '', authorize: () => {} },
    credential: { id: 'c', owner: 'platform', secret: '' },
  }
  const question = { needs: needsOf(request, inputTokens), routing: request.routing, readsMedia: false }
  for (const { code, why } of rules) {
    const reason = why(candidate, question)
    if (reason !== undefined) return `${code}: ${reason}`
  }
  return undefined
}

test('JSON mode is left to who has it, or can do more', () => {
  const asked = { text: { format: { type: 'json_object' } } }
  expect(whyNot(asked, { abilities: ['tools'] })).toBe('capability_mismatch: it has no JSON mode')
  expect(whyNot(asked, { abilities: ['json_mode'] })).toBeUndefined()
  expect(whyNot(asked, { abilities: ['structured_output'] })).toBeUndefined()
  expect(whyNot(asked, {})).toBeUndefined()
  expect(whyNot({}, { abilities: [] })).toBeUndefined()
})

test('a call that must be made is left to who honors the demand', () => {
  const asked = { tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' }
  expect(whyNot(asked, { quirks: { refuses: ['tool_choice_required'] } })).toMatch(/^tool_choice_required_not_supported/)
  expect(whyNot({ ...asked, tool_choice: 'auto' }, { quirks: { refuses: ['tool_choice_required'] } })).toBeUndefined()
  expect(whyNot(asked, {})).toBeUndefined()
})

test('a ceiling of price is held against what the tier asked for costs', () => {
  const dear = { price: { ...price, priority: { input: 3_000_000, output: 3_000_000 } } }
  const routing = { max_price: { input: 2 } }
  expect(whyNot({ gateway: { routing } }, dear)).toBeUndefined()
  expect(whyNot({ service_tier: 'priority', gateway: { routing } }, dear)).toMatch(/^routing_constraint_unsatisfiable/)
  expect(whyNot({ service_tier: 'priority', gateway: { routing } }, { price })).toBeUndefined()
})

test('who takes bytes only is left out where nobody can read an address, and kept for what comes as bytes', () => {
  const showing = (image_url: string) => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }] })
  expect(whyNot(showing('https://a.example/1.png'), { quirks: { bytes_only: true } })).toMatch(
    /^capability_mismatch: it takes images and files as bytes/,
  )
  expect(whyNot(showing('data:image/png;base64,AAAA'), { quirks: { bytes_only: true } })).toBeUndefined()
})

test('items that one language alone can say are left to who speaks it, each under the code of its language', () => {
  const hosted = { input: [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }] }
  expect(whyNot(hosted, {})).toMatch(/^input_requires_responses_endpoint: .* only a provider speaking "responses" can take/)
  expect(whyNot(hosted, { dialect: 'responses' })).toBeUndefined()
  const block = { type: 'container_upload', file_id: 'file_1' }
  const upload = messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [block] }] })
  expect(whyNotFor(upload, {})).toMatch(/^capability_mismatch: .* only a provider speaking "messages" can take/)
  expect(whyNotFor(upload, { dialect: 'messages' })).toBeUndefined()
})

test('a prompt that is too long beyond doubt is not sent, and the bytes of a document leave doubt', () => {
  const showing = (file_data: string) => ({ input: [{ role: 'user', content: [{ type: 'input_file', filename: 'f', file_data }] }] })
  const small = { context_window: 1_000 }
  expect(whyNot({}, small, 2_000)).toBeUndefined()
  expect(whyNot({}, small, 2_001)).toMatch(/^context_length_exceeded/)
  expect(whyNot(showing('data:text/plain;base64,AAAA'), small, 2_001)).toMatch(/^context_length_exceeded/)
  expect(whyNot(showing('data:application/pdf;base64,AAAA'), small, 2_001)).toBeUndefined()
})
