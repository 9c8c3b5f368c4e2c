import { chatProvider, geminiProvider, messagesProvider, responsesProvider } from '@signalbox/dialects'
import type { Frame, JsonObject, Price, ProviderDialect } from '@signalbox/dialects/protocol'
import { simulated } from '@signalbox/providers'
import { describe, expect, test } from 'vitest'
import type { ReplyContext } from '../src/answers/index.ts'
import type { Act } from '../src/index.ts'
import { fakeClock, scriptedProvider, testGateway } from '../src/index.ts'

// A response does not deliver only text. A client that disconnects pays for what it received.

const frame = (type: string, body: JsonObject) => ({ event: type, data: JSON.stringify({ type, ...body }) })
const answered = { id: 'r', object: 'response', model: 'm' }
const usage = { input_tokens: 10, output_tokens: 4_000, total_tokens: 4_010 }

/** One item, whole; then silence for so long, then the end with the usage. */
const itemThenEnd =
  (item: JsonObject, silenceMs: number): Act =>
  async ({ wait, finished }) => ({
    status: 200,
    frames: (async function* () {
      yield [
        frame('response.created', { response: { ...answered, status: 'in_progress', output: [] } }),
        frame('response.output_item.added', {
          output_index: 0,
          item: { type: item.type ?? '', id: 'i', status: 'in_progress', summary: [] },
        }),
      ]
      await wait(20_000)
      yield [frame('response.output_item.done', { output_index: 0, item })]
      await wait(silenceMs)
      yield [frame('response.completed', { response: { ...answered, status: 'completed', output: [item], usage } })]
      finished()
    })(),
  })

const picture = { type: 'image_generation_call', id: 'i', status: 'completed', result: 'A'.repeat(4_000) }
const reasoning = { type: 'reasoning', id: 'i', summary: [], encrypted_content: 'A'.repeat(4_000) }

interface Leaving {
  readonly item: JsonObject
  readonly silenceMs: number
  readonly body?: JsonObject
  readonly offer?: JsonObject
}

/** Disconnects once the item has arrived; resolves to the usage row. */
async function leaveWith({ item, silenceMs, body = {}, offer = {} }: Leaving) {
  const clock = fakeClock()
  const provider = scriptedProvider({ id: 'p', dialect: responsesProvider, clock, acts: [itemThenEnd(item, silenceMs)] })
  const price = { input: 1_000_000, output: 10_000_000 }
  const models = [{ id: 'model', offers: [{ provider: 'p', model: 'm', api: 'responses', price, ...offer }] }]
  const { gateway, caller, storage } = await testGateway({ providers: [provider], models, clock })
  const asked = { model: 'model', input: 'Hi', stream: true, max_output_tokens: 8_000, ...body }
  const reply = gateway.infer(
    gateway.dialects.responses.decodeRequest(asked, () => undefined),
    { caller },
  )
  const batches = reply.batches()
  const delivered = (async () => {
    for (;;) {
      const { done, value } = await batches.next()
      if (done || value.some(({ type }) => type === 'item_finished')) break
    }
  })()
  await clock.advance(20_000)
  await delivered
  const left = batches.return?.()
  await clock.advance(6_000)
  await left
  await reply.leave()
  const [row] = await storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1 })
  return row
}

test.each([
  ['a picture', picture],
  ['thoughts that are sealed', reasoning],
])('a client that disconnects after %s without text pays the provider’s price for it', async (_, item) => {
  const row = await leaveWith({ item, silenceMs: 1_000 })
  expect(row).toMatchObject({ result: 'abandoned', outputTokens: 4_000, cost: 40_010, estimated: false })
})

test.each<readonly [string, Omit<Leaving, 'silenceMs'>]>([
  ['a picture', { item: picture, offer: { abilities: [] } }],
  ['thoughts that are sealed', { item: reasoning }],
  [
    'thoughts that it forbade, and asked for by an extension',
    { item: reasoning, body: { reasoning: { effort: 'none' }, extensions: { think: true } } },
  ],
])('a client that disconnects after %s pays for the elapsed time if there is no usage', async (_, leaving) => {
  expect(await leaveWith({ ...leaving, silenceMs: 600_000 })).toMatchObject({ result: 'abandoned', outputTokens: 1_200, estimated: true })
})

test.each<readonly [string, JsonObject, number]>([
  ['of an offer of which nothing is known', {}, 0],
  ['of an offer that has been heard to its end', {}, 1],
  ['of an offer that cannot think', { abilities: [] }, 1],
  ['of an offer that thinks, and did not', { abilities: ['reasoning'] }, 1],
])('a client that disconnects from a text %s pays for the text that it received', async (_, offer, whole) => {
  const clock = fakeClock()
  const price = { input: 0, output: 5_000_000 }
  const models = [{ id: 'story', offers: [{ provider: 'sim', model: 'story', api: 'chat', price, ...offer }] }]
  const providers = [simulated({ id: 'sim', wordMs: 100, clock })]
  const { gateway, caller, storage } = await testGateway({ providers, models, clock })
  const decode = gateway.dialects.responses.decodeRequest
  const ask = () =>
    gateway.infer(
      decode({ model: 'story', input: 'Hi', stream: true }, () => undefined),
      { caller },
    )
  for (let at = 0; at < whole; at++) {
    const heard = ask().whole()
    for (let waited = 0; waited < 150; waited++) await clock.advance(100)
    await heard
  }
  const reply = ask()
  let characters = 0
  const batches = reply.batches()
  void (async () => {
    for (let step = await batches.next(); !step.done; step = await batches.next())
      for (const event of step.value) if (event.type === 'delta' && 'text' in event.delta) characters += event.delta.text.length
  })()
  for (let at = 0; at < 30; at++) await clock.advance(100)
  const left = reply.leave()
  for (let at = 0; at < 60; at++) await clock.advance(100)
  await left
  const [row] = await storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1 })
  const tokens = Math.ceil(characters / 4)
  expect(tokens).toBeGreaterThan(20)
  expect(row).toMatchObject({ result: 'abandoned', estimated: true, outputTokens: tokens, cost: tokens * 5 })
})

interface Read {
  readonly acts: readonly Act[]
  readonly dialect: ProviderDialect
  readonly price: Price
  readonly body?: JsonObject
  readonly offer?: JsonObject
  /** Default: 1. */
  readonly seconds?: number
  /** Seconds from and to which the client takes nothing. */
  readonly pauses?: readonly (readonly [from: number, to: number])[]
}

/** Reads for the given time, then disconnects; resolves to the usage row. */
async function readAndLeave({ acts, dialect, price, body = {}, offer = {}, seconds = 1, pauses = [] }: Read) {
  const clock = fakeClock()
  const provider = scriptedProvider({ id: 'p', dialect, clock, acts })
  const offered = { provider: 'p', model: 'm', api: dialect.name, price, abilities: [], ...offer }
  const { gateway, caller, storage } = await testGateway({ providers: [provider], models: [{ id: 'model', offers: [offered] }], clock })
  const asked = { model: 'model', input: 'Hi', stream: true, max_output_tokens: 8_000, ...body }
  const reply = gateway.infer(
    gateway.dialects.responses.decodeRequest(asked, () => undefined),
    { caller },
  )
  const events = reply.events()
  events.read({ next: () => {}, end: () => {}, fail: () => {} })
  let passed = 0
  const advanceTo = async (second: number): Promise<void> => {
    await clock.advance((second - passed) * 1_000)
    passed = second
  }
  for (const [from, to] of pauses) {
    await advanceTo(from)
    events.pause()
    await advanceTo(to)
    events.resume()
  }
  await advanceTo(seconds)
  const left = reply.leave()
  await clock.advance(6_000)
  await left
  const [row] = await storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1 })
  return row
}

/** These frames, then silence. */
const framesOf =
  (write: (context: ReplyContext) => readonly Frame[]): Act =>
  async context => ({
    status: 200,
    frames: (async function* () {
      yield write(context)
      await context.wait(600_000)
    })(),
  })

const price = { input: 1_000_000, output: 1_000_000 }

test.each([
  ['Chinese', '信号楼是铁路上用来控制道岔和信号的建筑。', 15],
  ['Korean', '신호소는 열차의 운행을 제어하는 건물이다. ', 14],
  ['Thai', 'กล่องสัญญาณเป็นอาคารที่ใช้ควบคุมการเคลื่อนที่ของรถไฟ', 22],
  ['JSON', '{"id":17,"x":25.5,"ok":true},', 14],
])('a client that disconnects %s pays for its tokens, input and output', async (_, sentence, tokens) => {
  const text = sentence.repeat(50)
  const write = ({ writer }: ReplyContext) => {
    const { opening, content } = writer.write({ text }, { model: 'm', includeUsage: true })
    return [...opening, ...content]
  }
  const row = await readAndLeave({ acts: [framesOf(write)], dialect: chatProvider, price, body: { input: text } })
  // As o200k counts them.
  for (const billed of [row?.inputTokens, row?.outputTokens]) {
    expect(billed).toBeGreaterThan(0.8 * tokens * 50)
    expect(billed).toBeLessThan(1.3 * tokens * 50)
  }
})

test('a client that disconnects pays for a cached prompt as its provider reported at the start', async () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 20_000, output_tokens: 1 }
  const start = { id: 'msg', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage }
  const frames = [
    frame('message_start', { message: start }),
    frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Now.' } }),
  ]
  const cachedPrice = { input: 10_000_000, cached: 1_000_000, output: 0 }
  const body = { input: 'word '.repeat(20_000) }
  const row = await readAndLeave({ acts: [framesOf(() => frames)], dialect: messagesProvider, price: cachedPrice, body })
  expect(row).toMatchObject({ result: 'abandoned', inputTokens: 20_010, cachedTokens: 20_000, cost: 20_100, estimated: true })
})

test.each<readonly [string, ProviderDialect, readonly Frame[]]>([
  [
    'responses',
    responsesProvider,
    ['ws_1', 'ws_2', 'ws_3'].map((id, output_index) =>
      frame('response.output_item.done', { output_index, item: { type: 'web_search_call', id, status: 'completed' } }),
    ),
  ],
  [
    'messages',
    messagesProvider,
    [0, 1, 2].flatMap(index => [
      frame('content_block_start', {
        index,
        content_block: { type: 'server_tool_use', id: `srv_${index}`, name: 'web_search', input: {} },
      }),
      frame('content_block_stop', { index }),
      frame('content_block_start', { index: index + 3, content_block: { type: 'text', text: 'Found.' } }),
    ]),
  ],
])('a client that disconnects pays for the searches that it received, with dialect %s', async (_, dialect, frames) => {
  const searches = { ...price, output: 0, input: 0, tools: { web_search: 10_000 } }
  const body = { tools: [{ type: 'web_search' }] }
  const row = await readAndLeave({ acts: [framesOf(() => frames)], dialect, price: searches, body })
  expect(row).toMatchObject({ result: 'abandoned', cost: 30_000 })
})

test('a client that disables reasoning where it cannot be disabled, and disconnects, pays for the time before the first content', async () => {
  const write = ({ writer }: ReplyContext) => {
    const { opening, content } = writer.write({ text: 'Now.' }, { model: 'm', includeUsage: true })
    return [...opening, ...content]
  }
  const late: Act = async context => {
    await context.wait(20_000)
    return framesOf(write)(context)
  }
  const body = { reasoning: { effort: 'none' } }
  const offer = { abilities: ['reasoning'], quirks: { efforts: ['low', 'high'] } }
  const row = await readAndLeave({ acts: [late], dialect: chatProvider, price, body, offer, seconds: 21 })
  expect(row).toMatchObject({ result: 'abandoned', outputTokens: 1_202 })
})

describe('a client that disconnects during reasoning that its provider counts as it streams', () => {
  const chunk = (parts: readonly JsonObject[], usageMetadata: JsonObject): Frame => ({
    data: JSON.stringify({ candidates: [{ content: { role: 'model', parts } }], modelVersion: 'm', responseId: 'r', usageMetadata }),
  })
  const counts = { promptTokenCount: 40, cachedContentTokenCount: 30 }

  test.each([
    ['an offer of which nothing is known', {}],
    ['an offer that thinks', { abilities: ['reasoning'] }],
  ])('pays for the reported count, with %s', async (_, offer) => {
    const reasoning: Act = async context => ({
      status: 200,
      frames: (async function* () {
        yield [chunk([{ text: 'Plan.', thought: true }], { ...counts, thoughtsTokenCount: 500 })]
        await context.wait(3_000)
        yield [chunk([{ text: 'Now.' }], { ...counts, candidatesTokenCount: 2, thoughtsTokenCount: 4_000 })]
        await context.wait(600_000)
      })(),
    })
    const cachedPrice = { input: 10_000_000, cached: 1_000_000, output: 1_000_000 }
    const row = await readAndLeave({ acts: [reasoning], dialect: geminiProvider, price: cachedPrice, offer, seconds: 5 })
    expect(row).toMatchObject({ result: 'abandoned', inputTokens: 40, cachedTokens: 30, outputTokens: 4_002, reasoningTokens: 4_000 })
    expect(row).toMatchObject({ cost: 10 * 10 + 30 + 4_002, estimated: true })
  })

  test('pays no more than it can have received, whatever was reported', async () => {
    const frames = [chunk([{ text: 'Now.' }], { ...counts, promptTokenCount: 9e6, candidatesTokenCount: 9e6, thoughtsTokenCount: 9e6 })]
    const row = await readAndLeave({ acts: [framesOf(() => frames)], dialect: geminiProvider, price })
    expect(row?.outputTokens).toBe(8_400)
    expect(row?.inputTokens).toBeLessThan(2_000)
  })
})

describe('a client that stops reading for a while, then disconnects', () => {
  /** Text, then reasoning that takes as long as the client waits. */
  const textThenReasoning: Act = async context => ({
    status: 200,
    frames: (async function* () {
      const { opening, content } = context.writer.write({ text: 'Now.' }, { model: 'm', includeUsage: true })
      yield [...opening, ...content]
      await context.wait(31_000)
      yield [frame('response.output_item.added', { output_index: 1, item: { type: 'reasoning', id: 'i', summary: [] } })]
      await context.wait(600_000)
    })(),
  })
  const offer = { abilities: ['reasoning'] }

  test.each([
    ['pays for thoughts that come later', [[0, 30]], 20],
    ['pays for no thoughts while it took nothing', [[32, 42]], 10],
  ] as const)('%s', async (_, pauses, seconds) => {
    const row = await readAndLeave({ acts: [textThenReasoning], dialect: responsesProvider, price, offer, seconds: 51, pauses })
    expect(row).toMatchObject({ result: 'abandoned', outputTokens: 60 * seconds + 2 })
  })
})

test('a stream that the gateway cuts at the cap is charged for its hidden reasoning, if its offer took no cap', async () => {
  const text = 'word '.repeat(1_000)
  const cut: Act = async ({ wait }) => ({
    status: 200,
    frames: (async function* () {
      yield [frame('response.created', { response: { ...answered, status: 'in_progress', output: [] } })]
      await wait(50_000)
      yield [
        frame('response.output_item.added', { output_index: 0, item: { type: 'message', id: 'i', role: 'assistant', content: [] } }),
        frame('response.output_text.delta', { output_index: 0, content_index: 0, item_id: 'i', delta: text }),
      ]
      await wait(600_000)
    })(),
  })
  const row = await readAndLeave({
    acts: [cut],
    dialect: responsesProvider,
    price,
    body: { max_output_tokens: 16 },
    offer: { abilities: ['reasoning'], maxOutputTokens: 32_000, quirks: { refuses: ['max_output_tokens'] } },
    seconds: 60,
  })
  expect(row).toMatchObject({ result: 'incomplete', estimated: true })
  // 50 s at the 60 tokens a second of an offer whose speed is not known, and the text that was delivered.
  expect(row?.outputTokens).toBeGreaterThan(3_000)
  expect(row?.outputTokens).toBeLessThan(3_700)
})
