import { chatProvider, messagesProvider, responsesProvider } from '@signalbox/dialects'
import type { InferenceEvent, InferenceRequest, JsonObject, Offer, ProviderDialect } from '@signalbox/dialects/protocol'
import { type Gateway, usd } from '@signalbox/gateway'
import { expect, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, fakeClock, type ScriptedProvider, scriptedProvider, testGateway } from '../src/index.ts'

// Prepaid credit and enforced budgets are bounds: whatever a provider claims, however long it writes, and whenever its client
// disconnects.

/** Microdollars a million tokens: a thousand dollars. */
const dear = { input: 1_000_000_000, output: 1_000_000_000 }
const plain = { input: 10_000_000, output: 10_000_000 }

interface Scene {
  readonly acts?: readonly Act[]
  readonly credit: number
  readonly price?: { readonly input: number; readonly output: number }
  readonly dialect?: ProviderDialect
  readonly offer?: Partial<Offer>
}

async function scene({ acts: script = [], credit, price = plain, dialect = chatProvider, offer = {} }: Scene) {
  const clock = fakeClock()
  const provider = scriptedProvider({ id: 'p', dialect, acts: script, clock })
  const logged: string[] = []
  const logger = { info: () => {}, warn: (_: object, message: string) => void logged.push(message), error: () => {} }
  const models = [{ id: 'model', offers: [{ provider: 'p', model: 'm', api: dialect.name, price, ...offer }] }]
  const made = await testGateway({ providers: [provider], models, clock, credit, logger })
  const { gateway, caller, storage } = made
  const { workspaceId } = caller
  return {
    ...made,
    clock,
    provider,
    logged,
    request: (body: JsonObject = {}): InferenceRequest =>
      gateway.dialects.responses.decodeRequest({ model: 'model', input: 'Hi', ...body }, () => undefined),
    books: async () => {
      const { balance, held } = await storage.ledger.balance(`credit:${workspaceId}`)
      const entries = await storage.ledger.entries(`credit:${workspaceId}`, { limit: 1_000 })
      const rows = await storage.usage.list({ workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000 })
      const lowest = Math.min(...entries.map(({ balanceAfter }) => balanceAfter))
      return { balance, held, lowest, rows, sum: entries.reduce((sum, { amount }) => sum + amount, 0) }
    },
  }
}

const ended = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'ok',
    (error: { readonly code?: string }) => error.code ?? String(error),
  )

test('usage far above what the text and the cap allow is charged at the possible maximum, with a warning', async () => {
  const claim = { input: 9_900_000, output: 9_900_000 }
  const { gateway, caller, request, books, logged } = await scene({
    acts: [acts.reply({ text: 'Hello.', usage: claim })],
    credit: 1_000_000,
    price: dear,
  })
  expect(await ended(gateway.infer(request({ max_output_tokens: 5 }), { caller }).whole())).toBe('ok')
  const { balance, held, rows } = await books()
  expect(balance).toBeGreaterThanOrEqual(0)
  expect(held).toBe(0)
  expect(rows).toMatchObject([{ result: 'ok', estimated: true, warnings: ['usage_clamped'], cost: 1_000_000 - balance }])
  expect(rows[0]?.outputTokens).toBeLessThanOrEqual(6)
  expect(logged.filter(message => message.includes('reported more usage'))).toHaveLength(1)
})

test('an offer that adds to every prompt is charged for what it counted, up to its context window, and the hold covers that', async () => {
  const claim = { input: 5_296, output: 5 }
  const offer = { contextWindow: 8_000, maxOutputTokens: 100, quirks: { extendsPrompt: true } }
  const honest = await scene({ acts: [acts.reply({ text: 'Hello.', usage: claim })], credit: 1_000_000, price: plain, offer })
  expect(await ended(honest.gateway.infer(honest.request(), { caller: honest.caller }).whole())).toBe('ok')
  expect((await honest.books()).rows).toMatchObject([{ inputTokens: 5_296, warnings: [], cost: 53_010 }])
  expect((await honest.gateway.health()).notices).toEqual([])

  const poor = await scene({ acts: [acts.reply({ text: 'Hello.', usage: claim })], credit: 60_000, price: plain, offer })
  expect(await ended(poor.gateway.infer(poor.request(), { caller: poor.caller }).whole())).toBe('insufficient_credits')

  const { quirks: _, ...usual } = offer
  const clamped = await scene({ acts: [acts.reply({ text: 'Hello.', usage: claim })], credit: 1_000_000, price: plain, offer: usual })
  expect(await ended(clamped.gateway.infer(clamped.request(), { caller: clamped.caller }).whole())).toBe('ok')
  expect((await clamped.books()).rows).toMatchObject([{ warnings: ['usage_clamped'] }])
  expect((await clamped.gateway.health()).notices).toEqual([expect.stringContaining('p/m reported more usage than possible once')])
})

test.each<readonly [string, JsonObject, JsonObject]>([
  ['that refuses an output cap', { quirks: { refuses: ['max_tokens', 'max_completion_tokens'] } }, {}],
  ['that reasons without a cap', { quirks: { thinkingField: 'reasoningConfig' } }, { reasoning: { effort: 'high' } }],
])('an offer %s is charged for what it generated, whatever cap the client sets', async (_, offer, body) => {
  const { gateway, caller, request, books } = await scene({
    acts: [acts.reply({ text: 'Hello.', usage: { input: 10, output: 20_000 } })],
    credit: 10_000_000,
    offer: { maxOutputTokens: 32_000, ...offer },
  })
  await gateway.infer(request({ max_output_tokens: 16, ...body }), { caller }).whole()
  const { rows } = await books()
  expect(rows).toMatchObject([{ outputTokens: 20_000, cost: 200_100, estimated: false }])
  expect(rows[0]?.warnings).not.toContain('usage_clamped')
})

test('usage above the hold is charged if credit is left, up to the possible maximum', async () => {
  const { gateway, caller, request, books } = await scene({
    acts: [acts.reply({ text: 'Hello.', usage: { input: 900, output: 5 } })],
    credit: 100_000_000,
    price: dear,
  })
  await gateway.infer(request({ max_output_tokens: 5 }), { caller }).whole()
  // Templates of a provider may put so much around a word.
  expect((await books()).rows).toMatchObject([{ inputTokens: 900, outputTokens: 5, cost: 905_000, estimated: false, warnings: [] }])
})

test('hosted tool calls that exceed the credit take all of it, so that they cannot be repeated for free', async () => {
  const search = (id: string) => ({ type: 'web_search_call', id, status: 'completed', action: { type: 'search', query: 'q' } })
  const body = {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', error: null, incomplete_details: null },
    output: ['ws_1', 'ws_2', 'ws_3'].map(search),
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  }
  const { gateway, caller, request, books } = await scene({
    acts: Array.from({ length: 4 }, () => async () => ({ status: 200, body })),
    credit: 50_000,
    dialect: responsesProvider,
    offer: { contextWindow: 500, price: { ...plain, tools: { web_search: 10_000 } } },
  })
  // The provider makes more calls than it may.
  const limits = { max_output_tokens: 20, max_tool_calls: 1 }
  const ask = () => ended(gateway.infer(request({ ...limits, tools: [{ type: 'web_search' }] }), { caller }).whole())
  expect([await ask(), await ask(), await ask()]).toEqual(['ok', 'ok', 'insufficient_credits'])
  const { balance, held, lowest, sum, rows } = await books()
  expect({ balance, held, lowest, sum }).toEqual({ balance: 0, held: 0, lowest: 0, sum: 0 })
  expect(rows.map(({ cost }) => cost).sort()).toEqual([19_850, 30_150])
})

test.each([
  [{ tools: [{ type: 'web_search' }] }, 10],
  [{ tools: [{ type: 'web_search' }], max_tool_calls: 3 }, 3],
  [{ tools: [{ type: 'web_search' }, { type: 'file_search', vector_store_ids: [] }], max_tool_calls: 3 }, 6],
  [{ tools: [{ type: 'web_search' }], max_tool_calls: 1_000_000 }, 1_000],
  [{ tools: [{ type: 'mcp', server_label: 's' }] }, 0],
  [{ tools: [{ type: 'namespace', name: 'g', tools: [{ type: 'web_search' }] }] }, 10],
  [{ input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] }] }, 10],
  [{}, 0],
])('a hold covers the calls of hosted tools: %j', async (body, calls) => {
  const price = { input: 0, output: 0, tools: { web_search: 10_000, file_search: 10_000 } }
  const answer = async (credit: number) => {
    const { gateway, caller, request } = await scene({ credit, dialect: responsesProvider, offer: { contextWindow: 1_000, price } })
    return ended(gateway.infer(request(body), { caller }).whole())
  }
  expect(await answer(Math.max(1, calls * 10_000))).toBe('ok')
  if (calls > 0) expect(await answer(calls * 10_000 - 1)).toBe('insufficient_credits')
})

test('hosted tool calls that the request does not ask for are not charged, with a warning', async () => {
  const body = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Hi' }],
    usage: { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 5_000 } },
  }
  const { gateway, caller, request, books, logged } = await scene({
    acts: [async () => ({ status: 200, body })],
    credit: 100_000_000,
    dialect: messagesProvider,
    offer: { price: { input: 0, output: 0, tools: { web_search: 10_000 } } },
  })
  expect(await ended(gateway.infer(request({ max_output_tokens: 20 }), { caller }).whole())).toBe('ok')
  expect((await books()).rows).toMatchObject([{ cost: 0, warnings: ['usage_clamped'] }])
  expect(logged.filter(message => message.includes('reported more usage'))).toHaveLength(1)
})

test('more hosted tool calls than a response can make are clamped, with a warning', async () => {
  const body = {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', error: null, incomplete_details: null },
    output: [],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    tool_usage: { web_search: { num_requests: 5_000 } },
  }
  const { gateway, caller, request, books } = await scene({
    acts: [async () => ({ status: 200, body })],
    credit: 100_000_000,
    dialect: responsesProvider,
    offer: { contextWindow: 500, price: { input: 0, output: 0, tools: { web_search: 10_000 } } },
  })
  expect(await ended(gateway.infer(request({ tools: [{ type: 'web_search' }] }), { caller }).whole())).toBe('ok')
  expect((await books()).rows).toMatchObject([{ cost: 10_000_000, warnings: ['usage_clamped'] }])
})

test.each<[string, JsonObject, number]>([
  ['without a compaction', {}, 15],
  ['that asks for a compaction', { extensions: { context_management: { edits: [{ type: 'compact_20260112' }] } } }, 15 + 20_000 + 100_000],
])('a request %s pays at most for the model calls that it asked for', async (_, fields, cost) => {
  const step = { type: 'compaction', input_tokens: 1_000_000, output_tokens: 1_000_000 }
  const body = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Hi' }],
    usage: { input_tokens: 10, output_tokens: 5, iterations: Array.from({ length: 10 }, () => step) },
  }
  const { gateway, caller, request, books } = await scene({
    acts: [async () => ({ status: 200, body })],
    credit: 1_000_000_000,
    dialect: messagesProvider,
    offer: { contextWindow: 100_000, price: { input: 1_000_000, output: 1_000_000 } },
  })
  const input = 'x'.repeat(100_000)
  expect(await ended(gateway.infer(request({ input, max_output_tokens: 5, ...fields }), { caller }).whole())).toBe('ok')
  expect((await books()).rows).toMatchObject([{ cost, warnings: ['usage_clamped'] }])
})

test('a request without a cap is sent with one, so that twenty concurrent responses of 100,000 tokens stay within the credit', async () => {
  const many = 40
  const { gateway, caller, request, books, provider } = await scene({
    acts: Array.from({ length: many }, () => acts.reply({ text: 'Long.', usage: { input: 10, output: 100_000 } })),
    credit: 328_000_000,
    price: { input: 1_000_000, output: 1_000_000_000 },
  })
  const outcomes = await Promise.all(Array.from({ length: many }, () => ended(gateway.infer(request(), { caller }).whole())))
  const { balance, lowest, held, rows } = await books()
  expect(provider.calls.map(({ body }) => body.max_completion_tokens)).toEqual(provider.calls.map(() => 16_384))
  expect(lowest).toBeGreaterThanOrEqual(0)
  expect(held).toBe(0)
  const answered = outcomes.filter(outcome => outcome === 'ok').length
  expect(answered).toBeGreaterThanOrEqual(19)
  expect(outcomes.filter(outcome => outcome === 'insufficient_credits')).toHaveLength(many - answered)
  expect(rows).toHaveLength(answered)
  expect(rows.reduce((spent, { cost }) => spent + cost, 0)).toBe(328_000_000 - balance)
})

test('a prompt of 100,000 rare Chinese characters is held for by its bytes, so that an admitted client can pay for it', async () => {
  const input = Array.from({ length: 100_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7_919) % 20_000))).join('')
  const { gateway, caller, request, books } = await scene({
    acts: Array.from({ length: 100 }, () => acts.reply({ text: '好。', usage: { input: 150_000, output: 2 } })),
    credit: 10_000_000,
    price: plain,
  })
  const ask = () => ended(gateway.infer(request({ input, max_output_tokens: 10 }), { caller }).whole())
  const outcomes = await Promise.all(Array.from({ length: 100 }, ask))
  const { lowest, held, rows } = await books()
  expect(lowest).toBeGreaterThanOrEqual(0)
  expect(held).toBe(0)
  const answered = outcomes.filter(outcome => outcome === 'ok').length
  expect(answered).toBeGreaterThanOrEqual(3)
  expect(rows.map(({ inputTokens, cost, warnings }) => [inputTokens, cost, warnings])).toEqual(
    Array.from({ length: answered }, () => [150_000, 1_500_020, []]),
  )
})

const words = Array.from({ length: 30 }, (_, at) => `word${at} `).join('')
const reasoning: Act = acts.reply({ text: words, usage: { input: 10, output: 30_000, reasoning: 29_940 } })

/** Disconnects after so many characters. */
async function readAndLeave(
  gateway: Gateway,
  request: InferenceRequest,
  { characters, ...call }: { characters: number } & Parameters<Gateway['infer']>[1],
) {
  const reply = gateway.infer(request, call)
  const batches = reply.batches()
  let seen = 0
  while (seen < characters) {
    const step = await batches.next()
    if (step.done) break
    seen += lengthOf(step.value)
  }
  await batches.return?.()
  return { reply, seen }
}

const lengthOf = (events: readonly InferenceEvent[]): number =>
  events.reduce((sum, event) => sum + (event.type === 'delta' && event.delta.kind === 'text' ? event.delta.text.length : 0), 0)

test('disconnecting one event before the end costs as much as reading to the end', async () => {
  const { gateway, caller, request, books } = await scene({ acts: [reasoning, reasoning], credit: 100_000_000, price: dear })
  const body = { stream: true, max_output_tokens: 40_000 }
  await gateway.infer(request(body), { caller }).whole()
  const { reply, seen } = await readAndLeave(gateway, request(body), { caller, characters: words.length })
  expect(seen).toBe(words.length)
  await reply.leave()
  const { rows, held } = await books()
  expect(held).toBe(0)
  expect(rows.map(({ result, outputTokens, cost, estimated }) => [result, outputTokens, cost, estimated])).toEqual([
    ['abandoned', 30_000, 30_010_000, false],
    ['ok', 30_000, 30_010_000, false],
  ])
})

test('a client that disconnects from a response without an end pays for reasoning during its silence, at the known speed of the offer', async () => {
  const thinking = (then: Act): Act => acts.stall(60_000, then)
  const content = 30
  const { gateway, caller, request, books, clock, provider } = await scene({
    acts: [thinking(reasoning), thinking(acts.pauseAfter(content, 600_000))],
    credit: 100_000_000,
    price: dear,
  })
  const body = { stream: true, max_output_tokens: 40_000 }
  const whole = gateway.infer(request(body), { caller }).whole()
  await clock.advance(60_000)
  await whole
  const leaving = readAndLeave(gateway, request(body), { caller, characters: 20 })
  await clock.advance(60_000)
  const { reply } = await leaving
  expect((await books()).rows).toHaveLength(1)
  await clock.advance(5_000)
  await reply.leave()
  const { rows, held, balance } = await books()
  expect(held).toBe(0)
  expect(balance).toBeGreaterThanOrEqual(0)
  expect(rows[0]).toMatchObject({ result: 'abandoned', estimated: true })
  // Sixty seconds of silence are worth what they were the last time.
  expect(rows[0]?.outputTokens).toBeGreaterThan(29_000)
  expect(rows[0]?.outputTokens).toBeLessThanOrEqual(40_000)
  expect(provider.calls[1]?.aborted).toBe(true)
})

/** Never stops, whatever cap it was sent. */
const endless: Act = async ({ body, signal, writer }) => {
  const asked = { model: 'm', includeUsage: true }
  const { opening } = writer.write({ text: 'x' }, asked)
  return {
    status: 200,
    frames: (async function* () {
      yield opening
      for (let at = 0; !signal.aborted && at < 100_000; at++) yield [writer.textFrame(`${body.model} goes on and on. `, asked)]
    })(),
  }
}

const streams: readonly (readonly [string, (gateway: Gateway, caller: Parameters<Gateway['infer']>[1]['caller']) => Promise<unknown>])[] = [
  [
    'responses',
    async (gateway, caller) =>
      drain(await gateway.responses.create({ model: 'model', input: 'Hi', stream: true, max_output_tokens: 1_000 }, { caller })),
  ],
  [
    'chat',
    async (gateway, caller) =>
      drain(
        await gateway.chat.completions.create(
          { model: 'model', messages: [{ role: 'user', content: 'Hi' }], stream: true, max_completion_tokens: 1_000 },
          { caller },
        ),
      ),
  ],
  [
    'messages',
    async (gateway, caller) =>
      drain(
        await gateway.messages.create(
          { model: 'model', messages: [{ role: 'user', content: 'Hi' }], stream: true, max_tokens: 1_000 },
          { caller },
        ),
      ),
  ],
]

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

test.each(streams)('a response that outgrows the credit ends with an error in the dialect of %s', async (_, ask) => {
  const { gateway, caller, books, provider } = await scene({ acts: [endless], credit: 1_050_000, price: dear })
  expect(await ended(ask(gateway, caller))).toBe('insufficient_credits')
  const { balance, held, lowest, rows } = await books()
  expect([held, lowest >= 0]).toEqual([0, true])
  expect(rows).toMatchObject([{ result: 'error', code: 'insufficient_credits' }])
  expect(rows[0]?.cost).toBeGreaterThan(900_000)
  expect(rows[0]?.cost).toBe(1_050_000 - balance)
  expect(provider.calls[0]?.aborted).toBe(true)
})

test('a response that outgrows its hold continues while there is credit, up to its cap', async () => {
  const { gateway, caller, request, books } = await scene({ acts: [endless], credit: 100_000_000, price: dear })
  const { outcome } = await gateway.infer(request({ stream: true, max_output_tokens: 1_000 }), { caller }).whole()
  expect(outcome).toMatchObject({ status: 'incomplete', reason: 'max_output_tokens' })
  const { rows, held } = await books()
  expect(held).toBe(0)
  expect(rows).toMatchObject([{ result: 'incomplete' }])
  expect(rows[0]?.cost).toBeGreaterThan(1_050_000)
})

test('a response that outgrows a budget ends, and the budget is not exceeded', async () => {
  const { gateway, caller, request, storage } = await scene({ acts: [endless], credit: 100_000_000, price: dear })
  const home = gateway.workspaces(caller.workspaceId)
  const { id } = await home.budgets.create({ name: 'small', period: 'total', limit: usd(1.05), enforce: true })
  const failed = await ended(gateway.infer(request({ stream: true, max_output_tokens: 1_000 }), { caller }).whole())
  expect(failed).toBe('budget_exceeded')
  const { balance, held } = await storage.ledger.balance(`budget:${id}`)
  expect(held).toBe(0)
  expect(balance).toBeGreaterThanOrEqual(-1_050_000)
  expect(balance).toBeLessThan(-900_000)
})

test('a response that continues after its client disconnected is aborted, and its slot stays taken until then', async () => {
  const { gateway, caller, request, books, storage, provider } = await scene({ acts: [endless], credit: 100_000_000, price: dear })
  const probe = () => storage.counters.enter({ key: `${caller.workspaceId}/slots:${caller.keyId}`, slot: 'probe', limit: 1, ttlMs: 1 }, 0)
  const { reply, seen } = await readAndLeave(gateway, request({ stream: true, max_output_tokens: 10_000 }), { caller, characters: 100 })
  expect(await probe()).toBe(false)
  await reply.leave()
  expect(await probe()).toBe(true)
  expect(provider.calls[0]?.aborted).toBe(true)
  const { rows } = await books()
  expect(rows).toMatchObject([{ result: 'abandoned', estimated: true, outputTokens: Math.ceil(seen / 4) }])
})

const sentTo = (provider: ScriptedProvider): unknown => provider.calls[0]?.body.max_output_tokens

const caps: readonly { readonly what: string; readonly offer?: Partial<Offer>; readonly body?: JsonObject; readonly cap: number }[] = [
  { what: 'the usual cap', cap: 16_384 },
  { what: 'what the offer can write', offer: { maxOutputTokens: 4_000 }, cap: 4_000 },
  // 8,000 - 5,637 are left.
  {
    what: 'the power of two below what is left of a window',
    offer: { contextWindow: 8_000 },
    body: { input: 'word '.repeat(3_000) },
    cap: 2_048,
  },
  { what: 'twice as much where much thinking is asked for', body: { reasoning: { effort: 'high' } }, cap: 32_768 },
  { what: 'the cap that the caller named', body: { max_output_tokens: 77 }, cap: 77 },
]

test.each(caps)('a request of a prepaid workspace is sent $what', async ({ offer = {}, body, cap }) => {
  const { gateway, caller, request, provider } = await scene({ credit: 1e12, dialect: responsesProvider, offer })
  await gateway.infer(request(body), { caller }).whole()
  expect(sentTo(provider)).toBe(cap)
})

test('a request without a limit on its cost is sent without a cap, as the client wrote it', async () => {
  const { gateway, provider } = await scene({ credit: 0, dialect: responsesProvider })
  const { id } = await gateway.workspaces.create({ name: 'Postpaid', billing: 'postpaid' })
  const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'k' })
  await gateway.responses.create({ model: 'model', input: 'Hi' }, { apiKey: secret })
  expect(sentTo(provider)).toBeUndefined()
})

test('the plan uses the same body as the request', async () => {
  const { gateway, caller, request } = await scene({ credit: 1e12, offer: { maxOutputTokens: 100 } })
  const { fidelity } = await gateway.plan(request(), caller)
  expect(fidelity[0]?.features.filter(({ fate }) => fate === 'dropped')).toEqual([])
})
