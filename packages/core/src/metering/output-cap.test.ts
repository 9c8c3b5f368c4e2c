import {
  bedrockProvider,
  chatClient,
  chatProvider,
  geminiProvider,
  messagesProvider,
  responsesClient,
  responsesProvider,
} from '@signalbox/dialects'
import { encodeForOffer } from '@signalbox/dialects/clients'
import { soldOffer } from '@signalbox/dialects/common'
import type { JsonObject, Offer, ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { acceptsOutputCap, maxOutput, namedCap, outputCap, withOutputCap } from './output-cap.ts'

const capping = { usual: 16_384, inputTokens: 100 }
const writer = (offer: Partial<Offer> = {}, quirks: Quirks = {}) =>
  soldOffer({ offer: { provider: 'p', model: 'm', api: 'chat', ...offer }, provider: { quirks } })
const requestWith = (body: JsonObject = {}) => responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...body }, () => undefined)

const written: readonly (readonly [string, ProviderDialect, (body: JsonObject) => unknown])[] = [
  ['responses', responsesProvider, body => body.max_output_tokens],
  ['chat', chatProvider, body => body.max_completion_tokens],
  ['messages', messagesProvider, body => body.max_tokens],
  ['gemini', geminiProvider, body => (body.generationConfig as JsonObject | undefined)?.maxOutputTokens],
  ['bedrock', bedrockProvider, body => (body.inferenceConfig as JsonObject | undefined)?.maxTokens],
]

test.each(written)('the cap for a request without one is sent to %s, with or without reasoning', (_, dialect, capIn) => {
  const { offer } = writer({ api: dialect.name, maxOutputTokens: 64_000 })
  const quirks: Quirks = { thinking: ['budget'], thinkingBudget: { min: 1_024, max: 60_000 } }
  for (const body of [{}, { reasoning: { effort: 'medium' } }, { unknown_to_us: 1 }]) {
    const request = requestWith(body)
    const cap = outputCap(soldOffer({ offer, provider: {} }), request.prompt, capping)
    const sent = encodeForOffer(dialect, withOutputCap(request, cap), { offer, quirks })
    expect(capIn(sent.body)).toBe(cap)
    // Nothing of the request is lost, so a strict request is not refused for a cap that it did not set.
    expect(sent.warnings.filter(({ param }) => param === 'max_output_tokens')).toEqual([])
  }
})

test('a request in the provider’s dialect is sent unchanged, with the cap added', () => {
  const body = { model: 'm', input: 'Hi', prompt_cache_options: { mode: 'new' }, max_output_tokens: null }
  const request = requestWith(body)
  const { offer } = writer({ api: 'responses' })
  const before = encodeForOffer(responsesProvider, request, { offer, quirks: {} })
  const after = encodeForOffer(responsesProvider, withOutputCap(request, 500), { offer, quirks: {} })
  expect(after).toEqual({ ...before, body: { ...before.body, max_output_tokens: 500 } })
})

test('a Chat host receives its own client’s field, also if the gateway adds the cap', () => {
  const request = chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], service_tier: 'on_demand' })
  const { offer } = writer()
  const sent = encodeForOffer(chatProvider, withOutputCap(request, 500), { offer, quirks: {} })
  expect(sent.body).toMatchObject({ service_tier: 'on_demand', max_completion_tokens: 500 })
})

test('a cap that the client set is never raised', () => {
  const request = requestWith({ max_output_tokens: 10 })
  expect(withOutputCap(request, 500)).toBe(request)
  expect(outputCap(writer({ maxOutputTokens: 5 }), request.prompt, capping)).toBe(5)
  expect(outputCap(writer(), request.prompt, capping)).toBe(10)
})

test('a cap below the provider’s minimum is raised, and holds and cuts follow the cap that is sent', () => {
  const quirks: Quirks = { minOutputTokens: 16 }
  const candidate = (dialect: ProviderDialect) =>
    soldOffer({ offer: { provider: 'p', model: 'm', api: dialect.name }, provider: { quirks, dialects: [dialect] } })
  for (const max_output_tokens of [1, 15, 16, 17]) {
    const request = requestWith({ max_output_tokens })
    const raised = candidate(responsesProvider)
    const { body, warnings } = encodeForOffer(responsesProvider, request, { offer: raised.offer, quirks })
    expect(body.max_output_tokens).toBe(Math.max(16, max_output_tokens))
    expect(warnings.map(({ param }) => param)).toEqual(max_output_tokens < 16 ? ['max_output_tokens'] : [])
    expect(outputCap(raised, request.prompt, capping)).toBe(body.max_output_tokens)
    expect(namedCap(raised, max_output_tokens)).toBe(body.max_output_tokens)
    const other = candidate(chatProvider)
    expect(encodeForOffer(chatProvider, request, { offer: other.offer, quirks }).body.max_completion_tokens).toBe(max_output_tokens)
    expect(outputCap(other, request.prompt, capping)).toBe(max_output_tokens)
  }
})

test('a prompt that nearly fills the context window is left to the provider to refuse', () => {
  expect(outputCap(writer({ contextWindow: 8_000 }), requestWith().prompt, { ...capping, inputTokens: 7_900 })).toBe(1_024)
})

test('a conversation that grows towards the end of the context window is sent few different caps, each of which fits', () => {
  const caps = new Set<number>()
  for (let inputTokens = 0; inputTokens < 100_000; inputTokens += 500) {
    const cap = outputCap(writer({ contextWindow: 200_000 }), requestWith().prompt, { ...capping, inputTokens })
    expect(cap).toBeLessThanOrEqual(Math.max(1_024, 200_000 - inputTokens))
    caps.add(cap)
  }
  expect(caps.size).toBeLessThanOrEqual(8)
})

test('an offer without a cap setting is sent none, and the hold covers its maximum output', () => {
  const thinking = requestWith({ reasoning: { effort: 'high' } }).prompt
  const nova = writer({ maxOutputTokens: 65_000 }, { thinkingField: 'reasoningConfig' })
  expect([acceptsOutputCap(nova, thinking), maxOutput(nova, thinking, capping)]).toEqual([false, 65_000])
  expect(acceptsOutputCap(nova, requestWith().prompt)).toBe(true)
  const refusing = writer({ maxOutputTokens: 9_000 }, { refuses: ['max_completion_tokens'] })
  expect([acceptsOutputCap(refusing, requestWith().prompt), maxOutput(refusing, requestWith().prompt, capping)]).toEqual([false, 9_000])
})

test('an explicit reasoning budget is added to the room for the response', () => {
  const { prompt } = requestWith()
  expect(outputCap(writer(), { ...prompt, reasoning: { budget_tokens: 5_000 } }, capping)).toBe(21_384)
})
