import { responsesProvider } from '@signalbox/core/dialects'
import type { JsonObject } from '@signalbox/core/protocol'
import { simulated } from '@signalbox/core/providers'
import { expect, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { fakeClock, scriptedProvider, testGateway } from '../src/index.ts'

// What an answer delivers is not always text. A client that leaves with it pays for it.

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
const thoughts = { type: 'reasoning', id: 'i', summary: [], encrypted_content: 'A'.repeat(4_000) }

interface Leaving {
  readonly item: JsonObject
  readonly silenceMs: number
  readonly body?: JsonObject
  readonly offer?: JsonObject
}

/** Leaves once the item has come; resolves to the usage row. */
async function leaveWith({ item, silenceMs, body = {}, offer = {} }: Leaving) {
  const clock = fakeClock()
  const provider = scriptedProvider({ id: 'p', dialect: responsesProvider, clock, acts: [itemThenEnd(item, silenceMs)] })
  const price = { input: 1_000_000, output: 10_000_000 }
  const models = [{ id: 'model', offers: [{ provider: 'p', provider_model_id: 'm', dialect: 'responses', price, ...offer }] }]
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
  ['thoughts that are sealed', thoughts],
])('a client that leaves with %s and without a word of text pays what the provider takes for it', async (_, item) => {
  const row = await leaveWith({ item, silenceMs: 1_000 })
  expect(row).toMatchObject({ result: 'abandoned', outputTokens: 4_000, cost: 40_010, estimated: false })
})

test.each<readonly [string, Omit<Leaving, 'silenceMs'>]>([
  ['a picture', { item: picture, offer: { abilities: [] } }],
  ['thoughts that are sealed', { item: thoughts }],
  [
    'thoughts that it forbade, and asked for by an extension',
    { item: thoughts, body: { reasoning: { effort: 'none' }, extensions: { think: true } } },
  ],
])('a client that leaves with %s pays for the time that it took, where no usage comes', async (_, leaving) => {
  expect(await leaveWith({ ...leaving, silenceMs: 600_000 })).toMatchObject({ result: 'abandoned', outputTokens: 1_200, estimated: true })
})

test.each<readonly [string, JsonObject, number]>([
  ['of an offer of which nothing is known', {}, 0],
  ['of an offer that has been heard to its end', {}, 1],
  ['of an offer that cannot think', { abilities: [] }, 1],
  ['of an offer that thinks, and did not', { abilities: ['reasoning'] }, 1],
])('a client that leaves a text %s pays for the words that it received', async (_, offer, whole) => {
  const clock = fakeClock()
  const price = { input: 0, output: 5_000_000 }
  const models = [{ id: 'story', offers: [{ provider: 'sim', provider_model_id: 'story', dialect: 'chat', price, ...offer }] }]
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
