import type { Provider, Transport } from '@signalbox/dialects/protocol'
import { compatible } from '@signalbox/providers'
import type { OfferEstimate, RouterOffer } from '@signalbox/router'
import { describe, expect, inject, test } from 'vitest'
import { acts } from '../src/index.ts'
import { cheap, countsOf, dear, moody, offerOf, openScene, settled, startClock } from './provider-selection.ts'

// Which provider the gateway calls: its router learns from each call.

const down = acts.status(503)

describe('the called provider', () => {
  test('changes if the current one is silent for much longer than usual, long before the timeout', async () => {
    const clock = startClock()
    const [first, second] = [moody('first', clock), moody('second', clock)]
    const scene = await openScene({ clock, providers: [first, second], offers: [offerOf(first, cheap), offerOf(second, dear)] })
    await scene.load(2, 30)
    first.mood = acts.never()
    const [answered] = await scene.load(1, 1)
    expect(answered).toMatchObject({ provider: 'second', warnings: ['provider_timeout'] })
    expect(answered?.afterMs).toBeLessThan(6_000)
  })

  // OpenAI answers 429, Groq 413.
  test.each([429, 413])(
    'stays the cheap one for small requests, if one caller’s large request exceeds its tokens per minute: %i',
    async status => {
      const clock = startClock()
      const message = 'Request too large for m on tokens per min (TPM): Limit 30000, Requested 31538.'
      const tooLarge = acts.status(status, { code: 'rate_limit_exceeded', message })
      const answers = acts.stall(300)
      const [small, large] = [
        moody('small', clock, context => (JSON.stringify(context.body).length > 9_000 ? tooLarge : answers)(context)),
        moody('large', clock),
      ]
      const scene = await openScene({ clock, providers: [small, large], offers: [offerOf(small, cheap), offerOf(large, dear)] })
      await scene.load(1, 30)
      const long = { input: 'word '.repeat(2_000) }
      const [first, ...others] = await scene.load(4, 3, at => (at === 0 ? long : {}))
      expect(first?.provider).toBe('large')
      expect(countsOf(others).small).toBeGreaterThan(8)
      expect(await settled([scene.ask({ ...long, gateway: { routing: { only: ['small'] } } })], clock)).toMatchObject([
        { error: 'context_length_exceeded' },
      ])
    },
  )

  // Of a usual size: the smaller requests are, the later an offer that failed is tried again.
  const usual = acts.stall(300, acts.reply({ text: 'Yes.', usage: { input: 1_000, output: 300 } }))
  const body = () => ({ input: 'word '.repeat(1_000) })
  const paces: readonly (readonly [number, number])[] = [
    [1, 300],
    [3, 60],
    ...(inject('isLongRun') ? ([2, 5, 8] as const).map(perSecond => [perSecond, 60] as const) : []),
  ]
  test.each(paces)('is the best one within a minute of its recovery, at %i requests a second', async (perSecond, seconds) => {
    // Trials follow a schedule: an outage may end just before one, or just after.
    for (const outage of inject('isLongRun') ? [120, 127, 134, 141, 148] : [120]) {
      const clock = startClock()
      const [best, other] = [moody('best', clock, usual), moody('other', clock, usual)]
      const scene = await openScene({ clock, providers: [best, other], offers: [offerOf(best, cheap), offerOf(other, dear)] })
      const before = await scene.load(perSecond, seconds, body)
      expect(countsOf(before).best).toBeGreaterThan(0.8 * before.length)
      best.mood = down
      expect(countsOf(await scene.load(perSecond, outage, body))).toEqual({ other: outage * perSecond })
      best.mood = usual
      await scene.load(perSecond, 60, body)
      expect(countsOf(await scene.load(perSecond, 20, body)).best).toBeGreaterThan(15 * perSecond)
    }
  })

  test('is the best of two new offers, at any rate of requests', async () => {
    const shares: number[] = []
    for (const perSecond of inject('isLongRun') ? [1, 2, 3, 5, 7, 8] : [1, 3, 8]) {
      const clock = startClock()
      const [best, other] = [moody('best', clock), moody('other', clock)]
      const scene = await openScene({ clock, providers: [best, other], offers: [offerOf(best, cheap), offerOf(other, dear)] })
      const answers = await scene.load(perSecond, 60)
      const { best: atBest = 0, nobody = 0 } = countsOf(answers)
      expect({ perSecond, nobody }).toEqual({ perSecond, nobody: 0 })
      shares.push(atBest / answers.length)
    }
    expect(shares[0]).toBeGreaterThan(0.9)
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  })

  test('is a new offer at once, if it costs less', async () => {
    const clock = startClock()
    const [old, fresh] = [moody('old', clock), moody('fresh', clock)]
    const scene = await openScene({ clock, providers: [old, fresh], offers: [offerOf(old, dear)] })
    await scene.load(2, 30)
    scene.gateway.models.replace([{ id: 'model', offers: [offerOf(old, dear), offerOf(fresh, cheap)] }])
    expect(countsOf(await scene.load(1, 10))).toEqual({ fresh: 10 })
  })

  test('is the least bad if all are bad: no request is refused without a try', async () => {
    const clock = startClock()
    const [dead, ill] = [moody('dead', clock, down), moody('ill', clock)]
    let calls = 0
    ill.mood = context => {
      calls += 1
      return calls % 3 === 0 ? acts.stall(300)(context) : down(context)
    }
    const scene = await openScene({ clock, providers: [dead, ill], offers: [offerOf(dead, cheap), offerOf(ill, dear)] })
    await scene.load(2, 30)
    const before = [dead.calls.length, ill.calls.length] as const
    const answers = await scene.load(2, 60)
    expect(countsOf(answers).ill).toBeGreaterThan(40)
    expect(ill.calls.length - before[1]).toBeGreaterThan(dead.calls.length - before[0])
  })

  test('is the same with the same seed and the same events', async () => {
    const run = async (seed: number) => {
      const clock = startClock()
      const providers = ['a', 'b', 'c'].map(id => moody(id, clock))
      providers.forEach((provider, at) => {
        let calls = at
        provider.mood = context => {
          calls += 1
          if (calls % 7 === 0) return down(context)
          return calls % 11 === 0 ? acts.status(429)(context) : acts.stall(100 + ((calls * 37) % 400))(context)
        }
      })
      const scene = await openScene({ clock, providers, offers: providers.map(each => offerOf(each)), seed })
      const answers = await scene.load(4, inject('isLongRun') ? 90 : 40)
      return { providers: answers.map(({ provider }) => provider), asked: providers.map(({ calls }) => calls.length) }
    }
    expect(await run(3)).toEqual(await run(3))
  })

  test('is not changed by plans', async () => {
    const run = async (plans: number) => {
      const clock = startClock()
      const providers = ['a', 'b', 'c'].map(id => moody(id, clock))
      const [a] = providers
      const scene = await openScene({ clock, providers, offers: providers.map(each => offerOf(each)) })
      const request = scene.gateway.dialects.responses.decodeRequest({ model: 'model', input: 'Hi', stream: true, prompt_cache_key: 'k' })
      const look = async () => {
        for (let plan = 0; plan < plans; plan += 1) await scene.gateway.plan(request, scene.caller)
      }
      const first = await scene.load(2, 20)
      await look()
      if (a) a.mood = down
      const second = await scene.load(2, 20)
      await look()
      if (a) a.mood = acts.stall(200)
      return [...first, ...second, ...(await scene.load(2, 60))].map(({ provider }) => provider)
    }
    expect(await run(20)).toEqual(await run(0))
  })
})

describe('the router learns', () => {
  const question = { model: 'model', input: 'Hi', stream: true }

  test('from a response that breaks off that it breaks, not that it never starts', async () => {
    const clock = startClock()
    const [one, two] = [moody('one', clock), moody('two', clock)]
    const scene = await openScene({ clock, providers: [one, two], offers: [offerOf(one, cheap), offerOf(two, dear)] })
    await scene.load(1, 30)
    const sightOf = async (id: string) => {
      const { choices } = await scene.gateway.plan(scene.gateway.dialects.responses.decodeRequest(question), scene.caller)
      return choices.find(({ provider }) => provider === id)?.estimate
    }
    const before = await sightOf('one')
    one.mood = acts.breakAfter(1)
    expect(await scene.load(1, 1)).toMatchObject([{ error: 'provider_error' }])
    const after = await sightOf('one')
    expect(after?.breakProbability).toBeGreaterThan(2 * (before?.breakProbability ?? 1))
    expect(after?.failureProbability).toBeLessThanOrEqual(before?.failureProbability ?? 0)
    expect(countsOf(await scene.load(1, 10)).two).toBeGreaterThan(7)
  })

  test('nothing about a provider’s speed from a slow client', async () => {
    const clock = startClock()
    const only = moody(
      'only',
      clock,
      acts.stall(300, acts.reply({ text: 'One two three four five six.', usage: { input: 10, output: 40 } })),
    )
    const scene = await openScene({ clock, providers: [only], offers: [offerOf(only)] })
    const request = scene.gateway.dialects.responses.decodeRequest(question)
    const growing = async () => (await scene.gateway.plan(request, scene.caller)).choices[0].estimate.generationMs
    const before = await growing()
    const batches = scene.gateway.infer(request, { caller: scene.caller }).batches()
    let reading = true
    while (reading) {
      const step = batches.next()
      await clock.advance(1_000)
      reading = !(await step).done
      await clock.advance(5_000)
    }
    expect(await growing()).toBe(before)
  })
})

describe('a rate limit', () => {
  test('that is reached moves requests to other providers until it is over, and then they return', async () => {
    const clock = startClock()
    const [best, other] = [moody('best', clock), moody('other', clock)]
    const scene = await openScene({ clock, providers: [best, other], offers: [offerOf(best, cheap), offerOf(other, dear)] })
    await scene.load(1, 30)
    best.mood = acts.status(429, { retryAfter: 20 })
    await scene.load(1, 1)
    best.mood = acts.stall(300)
    expect(countsOf(await scene.load(1, 17))).toEqual({ other: 17 })
    await scene.load(1, 10)
    expect(countsOf(await scene.load(1, 20)).best).toBeGreaterThan(15)
  })

  test('that response headers show as exhausted moves the next requests before one is refused', async () => {
    const clock = startClock()
    const spoken = 'data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    let left = 5
    const asked: string[] = []
    const transport: Transport = async ({ url }) => {
      const { hostname } = new URL(url)
      asked.push(hostname)
      if (hostname === 'best') left -= 1
      const told: Readonly<Record<string, string>> = { limit: '5', remaining: String(left), reset: '60' }
      const body = [new TextEncoder().encode(spoken)].values()
      return {
        status: 200,
        header: name => (hostname === 'best' ? told[name] : undefined),
        body: { next: async () => body.next() as IteratorResult<Uint8Array, undefined> },
      }
    }
    const quirks = { rateLimits: [{ limit: 'limit', remaining: 'remaining', reset: 'reset' }] }
    const providers = ['best', 'other'].map(id => compatible({ id, baseURL: `http://${id}`, apis: ['chat'] }))
    const [best, other] = providers as [Provider, Provider]
    const offers = [offerOf(best, cheap, { quirks }), offerOf(other, dear)]
    const scene = await openScene({ clock, providers, offers, transport })
    await scene.load(20, 0.5)
    expect(asked.slice(0, 5)).toEqual(Array(5).fill('best'))
    expect(asked.filter(each => each === 'other').length).toBeGreaterThan(2)
    left = 5
    asked.length = 0
    await scene.load(1, 30, () => {
      left = 5
      return {}
    })
    expect(asked.slice(-10).filter(each => each === 'best').length).toBeGreaterThan(7)
  })

  test('of the only provider is waited for if it is short, and returned at once if it is long', async () => {
    const clock = startClock()
    const only = moody('only', clock)
    const scene = await openScene({ clock, providers: [only], offers: [offerOf(only)] })
    await scene.load(1, 20)
    only.mood = context => {
      only.mood = acts.stall(300)
      return acts.status(429, { retryAfter: 1 })(context)
    }
    const [soon] = await scene.load(1, 1)
    expect(soon).toMatchObject({ provider: 'only' })
    expect(soon?.afterMs).toBeLessThan(2_500)
    only.mood = acts.status(429, { retryAfter: 60 })
    const [late] = await scene.load(1, 1)
    expect(late).toMatchObject({ error: 'rate_limit_exceeded' })
    expect(late?.afterMs).toBeLessThan(1_000)
  })

  test('that persists is probed by one request at a time, and the others are refused at once', async () => {
    const clock = startClock()
    const only = moody('only', clock, acts.status(429, { retryAfter: 60 }))
    const scene = await openScene({ clock, providers: [only], offers: [offerOf(only)] })
    await scene.load(1, 1)
    only.mood = acts.stall(2_000, acts.status(429, { retryAfter: 60 }))
    const before = only.calls.length
    const answers = await settled(
      Array.from({ length: 5 }, () => scene.ask()),
      clock,
    )
    expect(answers.map(({ error }) => error)).toEqual(Array(5).fill('rate_limit_exceeded'))
    expect(only.calls.length - before).toBe(1)
  })
})

const long = 'Of all that has been said so far. '.repeat(400)
const saying = (key: string) => ({ input: long, prompt_cache_key: key })
const caching = { ...cheap, cached: 50_000 }
/** Answers after so long, and has the prompt in its cache. */
const remembering = (milliseconds: number) =>
  acts.stall(milliseconds, acts.reply({ text: 'Yes.', usage: { input: 3_400, output: 20, cached: 3_300 } }))

describe('a conversation', () => {
  test('stays with the provider that cached it, even if another has become a little better', async () => {
    const clock = startClock()
    const [one, two] = [moody('one', clock, remembering(300)), moody('two', clock, remembering(300))]
    const scene = await openScene({ clock, providers: [one, two], offers: [offerOf(one, caching), offerOf(two, caching)] })
    await scene.load(1, 20)
    const [first] = await scene.load(1, 1, () => saying('talk'))
    const warm = first?.provider === 'one' ? one : two
    warm.mood = remembering(450)
    await scene.load(1, 60)
    const cold = countsOf(await scene.load(1, 20, at => saying(`another ${at}`)))
    expect(cold[warm.id] ?? 0).toBeLessThan(5)
    expect(countsOf(await scene.load(1, 20, () => saying('talk')))).toEqual({ [warm.id]: 20 })
  })

  test('is recognized by its beginning if it has no name', async () => {
    const clock = startClock()
    const [one, two] = [moody('one', clock, remembering(300)), moody('two', clock, remembering(300))]
    const scene = await openScene({ clock, providers: [one, two], offers: [offerOf(one, caching), offerOf(two, caching)] })
    const request = (turns: number) =>
      scene.gateway.dialects.responses.decodeRequest({
        model: 'model',
        instructions: 'Be brief.',
        input: [{ role: 'user', content: long }, ...Array.from({ length: turns }, () => ({ role: 'assistant', content: 'Go on.' }))],
        stream: true,
      })
    const reply = scene.gateway.infer(request(0), { caller: scene.caller })
    await settled([reply.whole()], clock)
    const { choices } = await scene.gateway.plan(request(3), scene.caller)
    expect(choices.map(({ provider, estimate }) => [provider, estimate.cachedTokens > 1_024])).toEqual([
      [reply.metadata().routing?.provider, true],
      [expect.any(String), false],
    ])
    const other = scene.gateway.dialects.responses.decodeRequest({ model: 'model', input: `${long}!`, stream: true })
    expect((await scene.gateway.plan(other, scene.caller)).choices.map(({ estimate }) => estimate.cachedTokens)).toEqual([0, 0])
  })

  test('of another workspace is never matched', async () => {
    const clock = startClock()
    const [one, two] = [moody('one', clock, remembering(300)), moody('two', clock, remembering(300))]
    const scene = await openScene({ clock, providers: [one, two], offers: [offerOf(one, caching), offerOf(two, caching)] })
    await scene.load(1, 1, () => saying('talk'))
    const request = scene.gateway.dialects.responses.decodeRequest({ model: 'model', stream: true, ...saying('talk') })
    const another = await scene.gateway.workspaces.create({ name: 'Another' })
    const stranger = { ...scene.caller, workspaceId: another.id }
    const warm = async (caller: typeof stranger) =>
      (await scene.gateway.plan(request, caller)).choices.some(({ estimate }) => estimate.cachedTokens > 0)
    expect([await warm(scene.caller), await warm(stranger)]).toEqual([true, false])
  })

  test('is not used for exploration', async () => {
    const clock = startClock()
    const [best, other] = [moody('best', clock, remembering(300)), moody('other', clock, remembering(300))]
    const offers = [offerOf(best, caching), offerOf(other, { ...dear, cached: 100_000 })]
    const scene = await openScene({ clock, providers: [best, other], offers })
    await scene.load(2, 30)
    best.mood = down
    expect(countsOf(await scene.load(1, 20, () => saying('talk'))).other).toBe(20)
    best.mood = remembering(300)
    const before = best.calls.length
    await scene.load(1, 60, () => saying('talk'))
    expect(best.calls.length).toBe(before)
    await scene.load(1, 30)
    expect(best.calls.length).toBeGreaterThan(before)
  })

  test('with a model of a pool stays with that model, and the response names it', async () => {
    const clock = startClock()
    const [one, two] = [moody('one', clock, remembering(300)), moody('two', clock, remembering(300))]
    const models = [
      { id: 'model-a', offers: [offerOf(one, caching)] },
      { id: 'model-b', offers: [offerOf(two, caching)] },
    ]
    const scene = await openScene({ clock, providers: [one, two], offers: [], models })
    const pool = (key: string) => ({ model: undefined, gateway: { models: ['model-a', 'model-b'] }, ...saying(key) })
    await scene.load(1, 20, at => pool(`warm-up ${at}`))
    const [first] = await scene.load(1, 1, () => pool('talk'))
    const name = first?.model
    expect(['model-a', 'model-b']).toContain(name)
    const warm = name === 'model-a' ? one : two
    warm.mood = remembering(450)
    await scene.load(1, 40, at => pool(`others ${at}`))
    const later = await scene.load(1, 10, () => pool('talk'))
    expect(later.map(({ model }) => model)).toEqual(Array(10).fill(name))
  })
})

describe('a strategy', () => {
  test('of the operator receives estimates and decides by a number', async () => {
    const clock = startClock()
    const [near, far] = [moody('near', clock), moody('far', clock)]
    const seen: (readonly [OfferEstimate, RouterOffer])[] = []
    const strategies = {
      farthest: (estimate: OfferEstimate, offer: RouterOffer) => {
        seen.push([estimate, offer])
        return offer.provider === 'far' ? 0 : 1
      },
    }
    const offers = [offerOf(near, cheap), offerOf(far, dear)]
    const scene = await openScene({ clock, providers: [near, far], offers, strategies, strategy: 'farthest' })
    expect(countsOf(await scene.load(2, 10))).toEqual({ far: 20 })
    for (const [estimate, offer] of seen) {
      expect(Object.values(estimate).every(Number.isFinite)).toBe(true)
      expect(offer.price).toEqual(offer.provider === 'far' ? dear : cheap)
    }
  })

  test('that throws, or returns something other than a number, excludes no provider', async () => {
    const clock = startClock()
    const [one, two] = [moody('one', clock), moody('two', clock, down)]
    const strategies = {
      broken: () => {
        throw new Error('A strategy broke.')
      },
      lost: () => Number.NaN,
    }
    const scene = await openScene({ clock, providers: [one, two], offers: [offerOf(two), offerOf(one)], strategies })
    for (const strategy of ['broken', 'lost']) {
      const [answered] = await scene.load(1, 1, () => ({ gateway: { routing: { strategy } } }))
      expect(answered).toMatchObject({ provider: 'one' })
    }
  })

  test('does not override the order of a client, but an order does not select a provider that is down', async () => {
    const clock = startClock()
    const [one, two] = [moody('one', clock), moody('two', clock)]
    const scene = await openScene({ clock, providers: [one, two], offers: [offerOf(one, cheap), offerOf(two, dear)] })
    const ordered = () => ({ gateway: { routing: { order: ['two', 'one'] } } })
    expect(countsOf(await scene.load(1, 10, ordered))).toEqual({ two: 10 })
    two.mood = down
    await scene.load(1, 10, ordered)
    const before = two.calls.length
    expect(countsOf(await scene.load(2, 5, ordered))).toEqual({ one: 10 })
    expect(two.calls.length - before).toBeLessThan(5)
  })
})
