import { catalog } from '@signalbox/catalog'
import { providerDialects } from '@signalbox/dialects'
import { type HostedTool, hostedTools, type JsonObject, type Model, type Offer, type Provider } from '@signalbox/dialects/protocol'
import { memoryStorage } from '@signalbox/storage-memory'
import { fakeClock, testGateway } from '@signalbox/testing'
import { expect, test } from 'vitest'

// Every hosted tool of every offer of the catalog has a price with its source, or its calls are named in a warning.

const offers: readonly Offer[] = catalog()
  .models.flatMap(model => model.offers)
  .filter(({ price }) => price !== undefined)
const models: readonly Model[] = offers.map(({ retiresAt: _, status: __, ...offer }, at) => ({ id: `offer-${at}`, offers: [offer] }))

const calls = 3
const times = <Value>(make: (at: number) => Value): readonly Value[] => Array.from({ length: calls }, (_, at) => make(at))

/** A hosted tool call as a dialect reports it. */
interface Ran {
  readonly tool: HostedTool | (string & {})
  readonly answer: JsonObject
}

const message = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
}
const inResponses = (tool: string, type = `${tool}_call`): Ran => ({
  tool,
  answer: {
    ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'm', error: null, incomplete_details: null },
    output: [...times(at => ({ type, id: `t_${at}`, status: 'completed' })), message],
    usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
  },
})
const inMessages = (tool: string): Ran => ({
  tool,
  answer: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Hi.' }],
    usage: { input_tokens: 10, output_tokens: 10, server_tool_use: { [`${tool}_requests`]: calls } },
  },
})
const inGemini = (tool: string, groundingMetadata: JsonObject): Ran => ({
  tool,
  answer: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP', index: 0, groundingMetadata }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
  },
})

const ranIn: Readonly<Record<string, readonly Ran[]>> = {
  responses: [
    ...['web_search', 'file_search', 'code_interpreter'].map(tool => inResponses(tool)),
    inResponses('web_search', 'search_results'),
    inResponses('web_fetch', 'fetch_url_results'),
    inResponses('image_generation_call', 'image_generation_call'),
    inResponses('x_search_call', 'x_search_call'),
    inResponses('people_search_results', 'people_search_results'),
  ],
  messages: [inMessages('web_search'), inMessages('web_fetch')],
  gemini: [
    inGemini('web_search', { webSearchQueries: times(at => `query ${at}`) }),
    inGemini('google_maps', { groundingChunks: [{ maps: { uri: 'https://maps.example', title: 'A place' } }] }),
  ],
}

/** Fields that ask for each kind of tool, whatever the dialect: calls of others are not charged. */
const asking: JsonObject = Object.fromEntries(hostedTools.map(tool => [`${tool}_filter`, 'all']))

/** The same answer without a tool. */
const plain: Readonly<Record<string, JsonObject>> = {
  responses: { ...inResponses('').answer, output: [message] },
  messages: { ...inMessages('').answer, usage: { input_tokens: 10, output_tokens: 10 } },
  gemini: inGemini('', {}).answer,
}

test('a hosted tool call is charged by a price with a source, or reported and counted', async () => {
  let body: JsonObject = {}
  let rows: readonly string[] = []
  const providers: readonly Provider[] = [...new Set(offers.map(({ provider }) => provider))].map(id => ({
    id,
    dialects: Object.values(providerDialects),
    credential: { id: `${id}:platform`, owner: 'platform', secret: 'sk' },
    endpoint: () => 'http://127.0.0.1:1',
    authorize: () => {},
    answer: async () => ({ status: 200, body }),
  }))
  const { gateway, caller, storage, close } = await testGateway({
    ...{ providers, models, storage: memoryStorage(), credit: 9_000_000_000_000 },
    clock: fakeClock({ now: Date.UTC(2026, 10, 24) }),
    hooks: {
      onFinish: (_, { warnings }) => {
        rows = warnings
      },
    },
  })
  const balance = async (): Promise<number> => (await storage.ledger.balance(`credit:${caller.workspaceId}`)).balance
  const costOf = async (index: number, answer: JsonObject | undefined) => {
    body = answer ?? {}
    const before = await balance()
    const request = gateway.dialects.responses.decodeRequest({ model: `offer-${index}`, input: 'Hi', extensions: asking }, () => undefined)
    const reply = gateway.infer(request, { caller })
    await reply.whole()
    return { cost: before - (await balance()), warnings: reply.metadata().warnings ?? [] }
  }
  const wrong: unknown[] = []
  const seen = { priced: 0, named: 0 }
  for (const [index, { api, price, source, provider }] of offers.entries()) {
    if (!ranIn[api]) continue
    const { cost: tokens } = await costOf(index, plain[api])
    const fees: Readonly<Record<string, number>> = { ...price?.tools }
    for (const { tool, answer } of ranIn[api]) {
      const { cost, warnings } = await costOf(index, answer)
      const fee = fees[tool]
      const isNamed = warnings.some(({ code, message: text }) => code === 'unpriced_tool' && text.includes(`\`${tool}\``))
      const isCounted = rows.includes('unpriced_tool')
      const isRight =
        fee === undefined
          ? isNamed && isCounted && cost === tokens
          : !isNamed && !isCounted && cost === tokens + calls * fee && source !== undefined
      if (!isRight) wrong.push({ provider, model: models[index]?.offers[0]?.model, tool, fee, cost, tokens, warnings, rows })
      seen[fee === undefined ? 'named' : 'priced'] += 1
    }
  }
  expect(wrong.slice(0, 3)).toEqual([])
  expect(seen.priced).toBeGreaterThan(100)
  expect(seen.named).toBeGreaterThan(300)
  await close()
})
