import { usd } from '@signalbox/gateway'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { describe, expect, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts } from '../src/index.ts'
import { moody, offerOf, openScene, type Scene, type Staging, settled, startClock } from './provider-selection.ts'

// A second provider is called in parallel with a silent one: the first to respond wins, the other is aborted, and the client pays what the response states.

/** A microdollar per input token, two per output token. */
const price = { input: 1_000_000, output: 2_000_000 }
/** The prompt that `ask` sends, as it is estimated: two characters and the item around them. */
const estimated = 9
const answer = acts.reply({ text: 'Here.', usage: { input: 12, output: 3 } })
/** So many characters at once, then nothing for a long time. */
const longThenSilence =
  (characters: number): Act =>
  async context => {
    const { opening, content } = context.writer.write({ text: 'x'.repeat(characters) }, { model: 'theirs', includeUsage: true })
    return {
      status: 200,
      frames: (async function* () {
        yield [...opening, ...content]
        await context.wait(600_000)
      })(),
    }
  }
/** Accepts the request at once, and is silent for the given time. */
const takesAndWaits = (milliseconds: number): Act => acts.pauseAfter(0, milliseconds)

async function open(options: Partial<Staging> = {}) {
  const clock = startClock()
  const first = moody('first', clock, acts.stall(300, answer))
  const second = moody('second', clock, acts.stall(300, answer))
  const providers = [first, second]
  // A second of waiting is worth more than a short call, and the first is the favourite as long as it answers.
  const scene = await openScene({ clock, providers, offers: providers.map(each => offerOf(each, price)), strategy: 'latency', ...options })
  await scene.load(1, 60)
  second.mood = acts.stall(400, answer)
  await scene.load(1, 60)
  return { ...scene, first, second, before: { first: first.calls.length, second: second.calls.length } }
}

const hedge = { gateway: { routing: { hedge: true } } }

async function asked(scene: Scene, body: object) {
  const [answered] = await settled([scene.ask(body)], scene.clock)
  if (!answered) throw new Error('One request has one answer.')
  return answered
}

describe('a hedge', () => {
  test('wins if the first stays silent; the first is aborted, and its prompt is charged because it had accepted it', async () => {
    const scene = await open()
    scene.first.mood = takesAndWaits(60_000)
    const { workspaceId } = scene.caller
    const { balance } = await scene.gateway.workspaces(workspaceId).billing.balance()
    const answered = await asked(scene, hedge)
    expect(answered).toMatchObject({ provider: 'second', warnings: ['hedged'], cost: (12 + 2 * 3 + estimated) / 1e6 })
    expect(answered.afterMs).toBeLessThan(2_500)
    expect(scene.first.calls.at(-1)).toMatchObject({ aborted: true, finished: false })
    expect(await scene.gateway.workspaces(workspaceId).billing.balance()).toMatchObject({ balance: balance - 27, held: 0 })
  })

  test('leaves an estimate no higher than its hold if the process ends', async () => {
    const storage = sqliteStorage(':memory:')
    const scene = await open({ storage })
    scene.first.mood = takesAndWaits(600_000)
    // As long as the hold allows.
    scene.second.mood = longThenSilence(76)
    const answering = scene.ask({ ...hedge, max_output_tokens: 10 })
    for (let second = 0; second < 15; second += 1) await scene.clock.advance(1_000)
    const [hold] = await storage.ledger.holds({ limit: 10 })
    const { progress } = JSON.parse(hold?.journal ?? '{}')
    expect(progress).toMatchObject({ provider: 'second' })
    expect(progress.usage.output_tokens).toBe(23)
    const { held } = await storage.ledger.balance(`credit:${scene.caller.workspaceId}`)
    expect(progress.bill.cost).toBeLessThanOrEqual(held)
    await settled([answering], scene.clock)
  })

  test('costs nothing more if the first had not accepted the request', async () => {
    const scene = await open()
    scene.first.mood = acts.never()
    expect(await asked(scene, hedge)).toMatchObject({ provider: 'second', warnings: [], cost: 18 / 1e6 })
  })

  test('loses if the first responds after all', async () => {
    const scene = await open()
    scene.first.mood = takesAndWaits(1_200)
    scene.second.mood = takesAndWaits(60_000)
    expect(await asked(scene, hedge)).toMatchObject({ provider: 'first', warnings: ['hedged'] })
    expect(scene.second.calls.at(-1)).toMatchObject({ aborted: true })
  })

  test('is made once, and counts as an attempt', async () => {
    const clock = startClock()
    const providers = ['a', 'b', 'c'].map(id => moody(id, clock, acts.stall(300, answer)))
    const settledFacts: number[] = []
    const hooks = { onFinish: (_: unknown, { attempts }: { readonly attempts: number }) => void settledFacts.push(attempts) }
    const scene = await openScene({
      clock,
      providers,
      offers: providers.map(each => offerOf(each, price)),
      strategy: 'latency',
      hedge: true,
      hooks,
    })
    await scene.load(1, 60)
    for (const provider of providers) provider.mood = takesAndWaits(2_000)
    await asked(scene, {})
    expect(settledFacts.at(-1)).toBe(2)
  })

  test('that fails does not shorten the time of the first', async () => {
    const scene = await open()
    scene.first.mood = acts.stall(1_500, answer)
    scene.second.mood = acts.status(503)
    expect(await asked(scene, hedge)).toMatchObject({ provider: 'first', cost: 18 / 1e6 })
  })

  test('that fails along with the first is reported like any failure', async () => {
    const scene = await open()
    scene.first.mood = acts.stall(1_200, acts.status(500))
    scene.second.mood = acts.stall(1_000, acts.status(500))
    expect(await asked(scene, hedge)).toMatchObject({ error: 'provider_error' })
    expect((await scene.gateway.workspaces(scene.caller.workspaceId).billing.balance()).held).toBe(0)
  })

  test('that rejects the request as invalid leaves the first its response, because providers differ in what they accept', async () => {
    const scene = await open()
    scene.first.mood = acts.stall(1_500, answer)
    scene.second.mood = acts.status(400, { code: 'invalid_value' })
    expect(await asked(scene, hedge)).toMatchObject({ provider: 'first', cost: 18 / 1e6 })
    expect(scene.second.calls.length - scene.before.second).toBe(1)
  })

  test('responds even if the first rejects the request as invalid', async () => {
    const scene = await open()
    scene.first.mood = acts.stall(1_200, acts.status(400, { code: 'content_policy_violation' }))
    scene.second.mood = acts.stall(1_500, answer)
    expect(await asked(scene, hedge)).toMatchObject({ provider: 'second', cost: 18 / 1e6 })
  })

  test('that rejects the request as invalid ends it after the time of the first, without a third attempt', async () => {
    const clock = startClock()
    const providers = ['a', 'b', 'c'].map(id => moody(id, clock, acts.stall(300, answer)))
    const offers = providers.map(each => offerOf(each, price))
    const scene = await openScene({ clock, providers, offers, strategy: 'latency', hedge: true })
    await scene.load(1, 60)
    const before = providers.map(({ calls }) => calls.length)
    // The first provider tried is silent, and the next rejects.
    let asking = 0
    for (const provider of providers) {
      provider.mood = (...heard) => {
        asking += 1
        return (asking === 1 ? takesAndWaits(60_000) : acts.status(400, { code: 'invalid_value' }))(...heard)
      }
    }
    const answered = await asked(scene, {})
    expect(answered).toMatchObject({ error: 'invalid_parameter_value' })
    expect(answered.afterMs).toBeLessThan(20_000)
    expect(providers.map(({ calls }, at) => calls.length - (before[at] ?? 0)).sort()).toEqual([0, 1, 1])
  })
})

describe('no hedge is made', () => {
  const silent = async (options: Partial<Staging>, body: object) => {
    const scene = await open(options)
    scene.first.mood = takesAndWaits(2_000)
    await asked(scene, body)
    return scene.second.calls.length - scene.before.second
  }

  test('if no hedge is configured', async () => {
    expect([await silent({}, {}), await silent({ hedge: true }, { gateway: { routing: { hedge: false } } })]).toEqual([0, 0])
    expect(await silent({ hedge: true }, {})).toBe(1)
  })

  test('for a whole response', async () => {
    expect(await silent({}, { ...hedge, stream: false })).toBe(0)
  })

  test('if a hosted tool might act twice', async () => {
    expect(await silent({}, { ...hedge, tools: [{ type: 'web_search' }] })).toBe(0)
  })

  test('that would cost more than the operator allows', async () => {
    expect([await silent({ maxHedgeCost: usd(0.000_001) }, hedge), await silent({ maxHedgeCost: usd(1) }, hedge)]).toEqual([0, 1])
  })

  test('if the client allows no other provider', async () => {
    expect(await silent({}, { gateway: { routing: { hedge: true, allow_fallbacks: false } } })).toBe(0)
  })
})

describe('a plan', () => {
  const plannedBy = async (options: Partial<Staging>, routing: Readonly<Record<string, boolean>>) => {
    const { gateway, caller } = await open(options)
    const request = gateway.dialects.responses.decodeRequest({ model: 'model', input: 'Hi', stream: true, gateway: { routing } })
    return gateway.plan(request, caller)
  }
  const shown = async (options: Partial<Staging>, routing: Readonly<Record<string, boolean>>) =>
    (await plannedBy(options, routing)).choices.map(({ hedgeAfterMs }) => hedgeAfterMs !== undefined)

  test('shows a hedge if one would be made: not above its cost limit, nor for the last candidate', async () => {
    expect(await shown({}, { hedge: true })).toEqual([true, false])
    expect(await shown({ maxHedgeCost: usd(0.000_001) }, { hedge: true })).toEqual([false, false])
    expect(await shown({}, {})).toEqual([false, false])
  })

  test('shows the only allowed provider, and why the other is left out', async () => {
    const { choices, candidates, fidelity, excluded } = await plannedBy({}, { hedge: true, allow_fallbacks: false })
    expect([choices.map(({ provider }) => provider), candidates.length, fidelity.length]).toEqual([['first'], 1, 1])
    expect(choices[0]).not.toHaveProperty('hedgeAfterMs')
    expect(excluded).toMatchObject([
      { provider: 'second', code: 'routing_constraint_unsatisfiable', param: 'gateway.routing.allow_fallbacks' },
    ])
  })
})

test('a client that disconnects during both calls pays for both prompts', async () => {
  const scene = await open()
  scene.first.mood = takesAndWaits(60_000)
  scene.second.mood = takesAndWaits(60_000)
  const { workspaceId } = scene.caller
  const { balance } = await scene.gateway.workspaces(workspaceId).billing.balance()
  const leaving = new AbortController()
  const request = scene.gateway.dialects.responses.decodeRequest({ model: 'model', input: 'Hi', stream: true, ...hedge })
  const reply = scene.gateway.infer(request, { caller: scene.caller, signal: leaving.signal })
  await scene.clock.advance(2_000)
  expect(scene.second.calls.length).toBe(scene.before.second + 1)
  leaving.abort()
  await expect(reply.committed).rejects.toMatchObject({ code: 'client_disconnected' })
  await scene.clock.advance(1_000)
  expect(await scene.gateway.workspaces(workspaceId).billing.balance()).toMatchObject({ balance: balance - 2 * estimated, held: 0 })
})

test('a hold covers both calls', async () => {
  const heldFor = async (body: object) => {
    const scene = await open()
    scene.first.mood = acts.never()
    scene.second.mood = acts.never()
    const request = scene.gateway.dialects.responses.decodeRequest({
      model: 'model',
      input: 'Hi',
      stream: true,
      max_output_tokens: 16,
      ...body,
    })
    const reply = scene.gateway.infer(request, { caller: scene.caller })
    await scene.clock.advance(100)
    const { held } = await scene.gateway.workspaces(scene.caller.workspaceId).billing.balance()
    await settled([reply.whole().catch(() => undefined)], scene.clock)
    return held
  }
  const [one, two] = [await heldFor({}), await heldFor(hedge)]
  expect(two - one).toBeGreaterThanOrEqual(estimated)
})
