import { catalog } from '@signalbox/catalog'
import { providerDialects } from '@signalbox/dialects'
import type { InferenceRequest, JsonObject, Model, Offer, Provider } from '@signalbox/dialects/protocol'
import { memoryStorage } from '@signalbox/storage-memory'
import { fakeClock, testGateway } from '@signalbox/testing'
import { expect, inject, test } from 'vitest'
import { type Consumption, type Purchase, priceByThePage } from './price-page.ts'

// Requests over all offers of the catalog, each with a random usage in its provider's format, at a random time: the amounts in the ledger
// must equal those of a second computation, written from the price pages.

const seed = 20_261_122

/** Every offer, and every region of one, as its own model. End dates are left out, since they are tested elsewhere. */
const offers: readonly Offer[] = catalog()
  .models.flatMap(model => model.offers)
  .flatMap(({ retiresAt: _, status: __, regions = [], ...offer }) => [
    offer,
    ...regions.map(({ region: ___, ...own }) => ({ ...offer, ...own })),
  ])
  .filter(({ price }) => price !== undefined)
/** Each offer at least once. */
const count = inject('isLongRun') ? 10_000 : offers.length
const models: readonly Model[] = offers.map((offer, at) => ({ id: `offer-${at}`, offers: [offer] }))

type Random = () => number

/** The generator mulberry32. */
function seeded(start: number): Random {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A length near a bound of the price as often as any other, and never more than the window. */
function promptLength({ contextWindow: window = 100_000, price }: Offer, random: Random): number {
  const bounds = [...(price?.tiers ?? []).map(({ over }) => over), price?.priority?.upTo ?? 0].filter(bound => bound > 0 && bound < window)
  const near = bounds[Math.floor(random() * bounds.length)]
  if (near !== undefined && random() < 0.5) return near + Math.floor(random() * 3) - 1
  return 1 + Math.floor(random() ** 3 * (window - 1))
}

const hostedBy: Readonly<Record<string, readonly string[]>> = {
  messages: ['web_search', 'web_fetch'],
  responses: ['web_search', 'file_search', 'code_interpreter'],
  gemini: ['web_search'],
}

function consumptionOf(offer: Offer, random: Random): Consumption {
  const upTo = (most: number): number => Math.floor(random() * (most + 1))
  const prompt = promptLength(offer, random)
  const read = random() < 0.5 ? upTo(prompt) : 0
  const writes = offer.api !== 'gemini' && random() < 0.4
  const written = writes ? upTo(prompt - read) : 0
  const writtenForHour = offer.api === 'messages' && random() < 0.5 ? upTo(written) : 0
  const sound = offer.api === 'gemini' || offer.api === 'chat' ? upTo(prompt - read - written) : 0
  const tools = random() < 0.2 ? (hostedBy[offer.api] ?? []) : []
  return {
    ...{ prompt, sound: random() < 0.3 ? sound : 0, read, written, writtenForHour },
    answer: 1 + upTo(Math.min(offer.maxOutputTokens ?? 4_000, 200_000) - 1),
    calls: Object.fromEntries(tools.map(tool => [tool, upTo(4)]).filter(([, calls]) => calls !== 0)),
  }
}

/** One provider is called at a host that costs more, and sells the tier flex at half price. */
const dearHost = 'openai'
const flexPercent = 50
const hostPercent = 110

/** Tiers that a response states, whatever was requested. */
const tiers = [undefined, undefined, 'default', 'flex', 'priority']
const statesTier: ReadonlySet<string> = new Set(['responses', 'chat'])

/** The response of a provider, in each dialect. */
const answers: Readonly<Record<string, (used: Consumption, reasoning: number, stated: JsonObject) => JsonObject>> = {
  responses: ({ prompt, read, written, answer, calls }, reasoning, stated) => ({
    ...stated,
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', error: null, incomplete_details: null },
    output: [
      ...Object.entries(calls).flatMap(([tool, times]) =>
        Array.from({ length: times }, (_, at) => ({ type: `${tool}_call`, id: `${tool}_${at}`, status: 'completed' })),
      ),
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
      },
    ],
    usage: {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
      output_tokens: answer,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: prompt + answer,
    },
  }),
  chat: ({ prompt, sound, read, written, answer }, reasoning, stated) => ({
    ...stated,
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi.' } }],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: answer,
      total_tokens: prompt + answer,
      prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written, audio_tokens: sound },
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  }),
  messages: ({ prompt, read, written, writtenForHour, answer, calls }, reasoning, stated) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Hi.' }],
    usage: {
      ...stated,
      input_tokens: prompt - read - written,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      cache_creation: { ephemeral_5m_input_tokens: written - writtenForHour, ephemeral_1h_input_tokens: writtenForHour },
      output_tokens: answer,
      output_tokens_details: { thinking_tokens: reasoning },
      server_tool_use: Object.fromEntries(Object.entries(calls).map(([tool, times]) => [`${tool}_requests`, times])),
    },
  }),
  gemini: ({ prompt, sound, read, answer, calls }, reasoning) => ({
    responseId: 'r',
    modelVersion: 'm',
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Hi.' }] },
        finishReason: 'STOP',
        index: 0,
        // An empty query is not charged, and the same one once.
        groundingMetadata: {
          webSearchQueries: ['', 'query 0', ...Array.from({ length: calls.web_search ?? 0 }, (_, at) => `query ${at}`)].slice(
            calls.web_search ? 0 : 2,
          ),
        },
      },
    ],
    usageMetadata: {
      promptTokenCount: prompt,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 1 },
        { modality: 'AUDIO', tokenCount: sound + Math.min(1, read) },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: Math.min(1, read) }],
      cachedContentTokenCount: read,
      candidatesTokenCount: answer - reasoning,
      thoughtsTokenCount: reasoning,
      totalTokenCount: prompt + answer,
    },
  }),
  bedrock: ({ prompt, read, written, answer }) => ({
    output: { message: { role: 'assistant', content: [{ text: 'Hi.' }] } },
    stopReason: 'end_turn',
    usage: {
      inputTokens: prompt - read - written,
      cacheReadInputTokens: read,
      cacheWriteInputTokens: written,
      outputTokens: answer,
      totalTokens: prompt + answer,
    },
    metrics: { latencyMs: 1 },
  }),
}

test(`${count} random usages over all offers cost what their price pages state`, async () => {
  const random = seeded(seed)
  const clock = fakeClock({ now: Date.UTC(2026, 10, 22) })
  let body: JsonObject = {}
  const providers: readonly Provider[] = [...new Set(offers.map(({ provider }) => provider))].map(id => ({
    id,
    dialects: Object.values(providerDialects),
    credential: { id: `${id}:platform`, owner: 'platform', secret: 'sk' },
    endpoint: () => 'http://127.0.0.1:1',
    ...(id === dearHost && { hostSurcharges: [{ host: '127.0.0.1', percent: hostPercent }], quirks: { flexPercent } }),
    authorize: () => {},
    answer: async () => ({ status: 200, body }),
  }))
  const { gateway, caller, storage, close } = await testGateway({
    providers,
    models,
    clock,
    credit: 9_000_000_000_000,
    storage: memoryStorage(),
  })
  const account = `credit:${caller.workspaceId}`
  const wrong: unknown[] = []
  let sum = 0
  for (let at = 0; at < count; at++) {
    const index = at < offers.length ? at : Math.floor(random() * offers.length)
    const offer = offers[index] as Offer
    const used = consumptionOf(offer, random)
    const extras = Object.fromEntries(
      (offer.price?.surcharges ?? []).filter(() => random() < 0.5).map(({ field, value }) => [field, value]),
    )
    const asksPriority = offer.price?.priority !== undefined && random() < 0.5
    const tier = statesTier.has(offer.api) ? tiers[Math.floor(random() * tiers.length)] : undefined
    const bought: Purchase = {
      at: clock.now(),
      isPriority: tier === undefined ? asksPriority : tier === 'priority',
      extras,
      flexPercent: offer.provider === dearHost && tier === 'flex' ? flexPercent : 100,
      hostPercent: offer.provider === dearHost ? hostPercent : 100,
    }
    // An account may enable them by default: then only the response states it.
    const isStated = random() < 0.5
    const reasoning = random() < 0.5 ? Math.floor(random() * used.answer) : 0
    body =
      answers[offer.api]?.(used, reasoning, {
        ...(isStated && extras),
        ...(tier !== undefined && { service_tier: tier }),
      }) ?? {}
    const { balance: before } = await storage.ledger.balance(account)
    await gateway
      .infer(requestFor(`offer-${index}`, used, { ...bought, isPriority: asksPriority, extras: isStated ? {} : extras }), { caller })
      .whole()
    const { balance: after, held } = await storage.ledger.balance(account)
    const expected = priceByThePage(offer, used, bought)
    sum += expected
    if (before - after !== expected || held !== 0) wrong.push({ offer, used, bought, billed: before - after, expected, held })
    // Some minutes to some days: by hours of the day, and past every announced change.
    clock.jump(60_000 * Math.ceil(random() * 60))
  }
  expect(wrong.slice(0, 3)).toEqual([])
  const { balance } = await storage.ledger.balance(account)
  expect(9_000_000_000_000 - balance).toBe(sum)
  await close()
})

/** Its field `documents` says that the provider adds to the prompt, so that any length can be true. It asks for the tools that are called. */
const requestFor = (model: string, { answer, calls }: Consumption, { isPriority, extras }: Purchase): InferenceRequest => ({
  prompt: {
    input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    native: { type: 'native', dialect: 'messages', body: { documents: [], ...extras } },
    max_output_tokens: Math.max(16, answer),
    extensions: Object.fromEntries(Object.keys(calls).map(tool => [`${tool}_filter`, 'all'])),
    ...(isPriority && { service_tier: 'priority' }),
  },
  routing: { models: [model], allow_fallbacks: false },
  delivery: 'whole',
})
