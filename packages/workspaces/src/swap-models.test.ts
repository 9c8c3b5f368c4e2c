import { chatProvider } from '@signalbox/dialects'
import type { Frame, InferenceRequest, JsonObject, LocalReply, Model, Provider } from '@signalbox/dialects/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { type Fixture, offerOf, openFixture } from '../../core/test/state/fixture.ts'

// Models are replaced while requests run: each request is planned, answered and charged with one set of them.

const asking = (delivery: 'whole' | 'stream', ...models: readonly [string, ...string[]]): InferenceRequest => ({
  prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Go.' }] }], max_output_tokens: 10 },
  routing: { models, allow_fallbacks: true },
  delivery,
})

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
const facts = { id: 'chatcmpl-1', created: 1, model: 'theirs' }
const whole: JsonObject = {
  ...facts,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage,
}
const chunk = (delta: JsonObject, more: JsonObject = {}): Frame => ({
  data: JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }], ...more }),
})
const end: readonly Frame[] = [
  { data: JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) },
  { data: JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices: [], usage }) },
  { data: '[DONE]' },
]

interface Gated extends Provider {
  /** Resolves when the provider has been called. */
  readonly asked: Promise<void>
  /** Lets the provider answer, or continue. */
  readonly release: () => void
  readonly models: readonly unknown[]
}

/** A provider that answers on `release`; a stream sends its first content before. */
function gated(id: string, status = 200): Gated {
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const models: unknown[] = []
  async function* speak(): AsyncGenerator<readonly Frame[], void> {
    yield [chunk({ role: 'assistant', content: 'Y' })]
    await gate.promise
    yield [chunk({ content: 'es.' }), ...end]
  }
  return {
    id,
    dialects: [chatProvider],
    credential: { id, owner: 'platform', secret: 'secret' },
    endpoint: () => `http://${id}.invalid/`,
    authorize: () => {},
    asked: asked.promise,
    release: gate.resolve,
    models,
    answer: async ({ body, stream }): Promise<LocalReply> => {
      models.push(body.model)
      asked.resolve()
      if (stream && status === 200) return { status: 200, frames: speak() }
      await gate.promise
      return status === 200 ? { status, body: whole } : { status, body: { error: { message: 'No.', code: 'x', type: 'x' } } }
    },
  }
}

async function open(providers: readonly Provider[], options: Parameters<typeof openFixture>[1]): Promise<Fixture> {
  const fixture = await openFixture(providers, options)
  onTestFinished(fixture.close)
  return fixture
}
const spent = async ({ gateway, caller }: Fixture): Promise<number> =>
  (await gateway.workspaces(caller.workspaceId).billing.balance()).spent

test.each(['whole', 'stream'] as const)('a running request ends as planned, and is charged at the old price: %s', async delivery => {
  const [old, other] = [gated('old'), gated('other')]
  const sold = (provider: Provider, name: string, price: number): Model => ({
    id: 'model',
    offers: [offerOf(provider, { model: name, price: { input: price, output: price } })],
  })
  const fixture = await open([old, other], { models: [sold(old, 'before', 1_000_000)] })
  const { gateway, caller } = fixture
  const running = gateway.infer(asking(delivery, 'model'), { caller }).whole()
  await old.asked
  gateway.models.replace([sold(other, 'after', 3_000_000)])
  const next = gateway.infer(asking(delivery, 'model'), { caller }).whole()
  await other.asked
  old.release()
  expect((await running).output).toMatchObject([{ type: 'message', content: [{ type: 'text', text: 'Yes.' }] }])
  expect(await spent(fixture)).toBe(20)
  other.release()
  expect((await next).outcome.status).toBe('completed')
  expect([await spent(fixture), old.models, other.models]).toEqual([80, ['before'], ['after']])
})

test('the planned fallback is still called after its models are replaced', async () => {
  const [first, second] = [gated('first', 500), gated('second')]
  const { gateway, caller } = await open([first, second], {
    models: [{ id: 'model', offers: [offerOf(first), offerOf(second, { model: 'before' })] }],
  })
  const running = gateway.infer(asking('whole', 'model'), { caller }).whole()
  await first.asked
  gateway.models.replace([{ id: 'other', offers: [offerOf(second)] }])
  const refused = gateway.infer(asking('whole', 'model'), { caller }).whole()
  await expect(refused).rejects.toMatchObject({ code: 'model_not_found' })
  first.release()
  second.release()
  expect((await running).outcome.status).toBe('completed')
  expect(second.models).toEqual(['before'])
})

test('an invalid set of models changes nothing', async () => {
  const provider = gated('p')
  const { gateway, caller } = await open([provider], { models: [{ id: 'model', offers: [offerOf(provider)] }] })
  const running = gateway.infer(asking('stream', 'model'), { caller }).whole()
  await provider.asked
  expect(() => gateway.models.replace([{ id: 'model', offers: [offerOf(provider, { api: 'bedrock' })] }])).toThrow(TypeError)
  provider.release()
  expect((await running).outcome.status).toBe('completed')
  expect((await gateway.infer(asking('whole', 'model'), { caller }).whole()).outcome.status).toBe('completed')
})

test('no request sees a mixture of two sets of models', async () => {
  const provider = gated('p')
  provider.release()
  const set = (name: string): readonly Model[] =>
    ['a', 'b', 'c'].map(id => ({ id, aliases: [`${id}-latest`], offers: [offerOf(provider, { model: `${id}:${name}` })] }))
  const plans: (readonly string[])[] = []
  const { gateway, caller } = await open([provider], {
    models: set('0'),
    hooks: { onRoute: (_, candidates) => void plans.push(candidates) },
    // Requests wait here for varying times, so that models are replaced before, between and after their plans.
    transformRequest: async request => {
      for (let turns = Number(request.prompt.user); turns > 0; turns--) await Promise.resolve()
      return request
    },
  })
  const running: Promise<unknown>[] = []
  for (let at = 1; at <= 60; at++) {
    const request = asking(at % 2 === 0 ? 'whole' : 'stream', 'a', 'b-latest', 'c')
    running.push(gateway.infer({ ...request, prompt: { ...request.prompt, user: String(at % 13) } }, { caller }).whole())
    if (at % 3 === 0) gateway.models.replace(set(String(at)))
    if (at % 5 === 0) await Promise.resolve()
  }
  await Promise.all(running)
  const seen = plans.map(candidates => new Set(candidates.map(name => name.slice(name.indexOf(':') + 1))))
  expect([plans.length, ...seen.map(({ size }) => size)]).toEqual([60, ...Array.from({ length: 60 }, () => 1)])
  expect(plans.every(candidates => candidates.length === 3)).toBe(true)
  expect(new Set(seen.flatMap(names => [...names])).size).toBeGreaterThan(5)
})
