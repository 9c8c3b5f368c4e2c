import { acts } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'
import { defaultLimits, defaultTimeouts } from '../../../../gateway/src/options.ts'
import { answer, createFixture, type FixtureOptions } from '../../../test/money/fixture.ts'
import type { CallLimits } from '../../access/kinds.ts'

/** Tokens that a request with a cap of ten is counted as: nine of prompt, ten of output. */
const counted = 19
/** Tokens that it then uses. */
const used = 15

const at = (scope: 'key' | 'workspace' | 'gateway' | 'gateway, by workspace', limits: CallLimits): FixtureOptions => {
  const postpaid = { billing: 'postpaid' } as const
  if (scope === 'workspace') return { workspace: { ...postpaid, limits } }
  if (scope === 'key') return { workspace: postpaid, caller: { limits } }
  const { requestsPerMinute: inferenceRpm = 1_000, ...others } = limits
  const options = scope === 'gateway' ? { inferenceRpm, ...others } : { workspace: limits }
  return { workspace: postpaid, engine: { limits: { ...defaultLimits, ...options } } }
}

describe.each(['key', 'workspace', 'gateway', 'gateway, by workspace'] as const)('a rate limit of the %s', scope => {
  const named = scope.includes('workspace') ? 'This workspace' : 'This key'

  test('on requests per minute names the limit and when the next request is allowed', async () => {
    const { ask, clock } = createFixture(at(scope, { requestsPerMinute: 2 }))
    await ask()
    await clock.advance(20_000)
    await ask()
    const error = await ask().catch(reason => reason)
    expect(error).toMatchObject({ code: 'requests_per_min_exceeded', status: 429, facts: { limitedBy: 'routing', retryAfterMs: 40_000 } })
    expect(error.message).toContain(`Rate limit reached for ${named.toLowerCase()}: 2 requests per minute`)
    await clock.advance(40_000)
    await ask()
  })

  test('on tokens per minute counts the estimated tokens first, then the tokens used', async () => {
    const { ask, clock } = createFixture(at(scope, { tokensPerMinute: used + counted }))
    await ask()
    await ask()
    const error = await ask().catch(reason => reason)
    expect(error).toMatchObject({ code: 'tokens_per_min_exceeded', status: 429, facts: { limitedBy: 'routing', retryAfterMs: 60_000 } })
    expect(error.message).toContain(`the limit is ${used + counted} per minute`)
    await clock.advance(60_000)
    await ask()
  })

  test('on concurrent requests frees its slot when a request ends, however it ends', async () => {
    const { ask, clock, providers } = createFixture({
      ...at(scope, { concurrentRequests: 1 }),
      acts: { first: acts.stall(1_000, answer) },
    })
    const running = ask()
    await clock.advance(500)
    const error = await ask().catch(reason => reason)
    expect(error).toMatchObject({ code: 'concurrent_requests_exceeded', status: 429 })
    expect(error.message).toContain(`${named} has reached its limit of 1 concurrent requests`)
    await clock.advance(500)
    await running
    const next = ask()
    await clock.advance(1_000)
    await next
    expect(providers.first.calls).toHaveLength(2)
  })
})

test('a request larger than the limit of tokens per minute is refused with an error that says it can never pass', async () => {
  const { ask, engine } = createFixture(at('key', { tokensPerMinute: counted - 1 }))
  await expect(ask()).rejects.toMatchObject({
    code: 'tokens_per_min_exceeded',
    message: expect.stringContaining(`may use ${counted} tokens, more than the limit of ${counted - 1} tokens per minute of this key`),
  })
  expect(await engine.storage.counters.take([{ key: 'workspace/rpm:key:model', amount: 1, limit: 1, windowMs: 1 }], 0)).toBeUndefined()
})

test('a key with its own limit is also held to the limit of its workspace', async () => {
  const { ask } = createFixture({
    workspace: { billing: 'postpaid', limits: { requestsPerMinute: 1 } },
    caller: { limits: { requestsPerMinute: 5 } },
  })
  await ask()
  await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('for this workspace: 1 requests') })
})

test('a request that one limit refuses does not count against another limit', async () => {
  const { ask, clock } = createFixture({
    workspace: { billing: 'postpaid', limits: { tokensPerMinute: counted } },
    caller: { limits: { requestsPerMinute: 2 } },
  })
  await ask()
  for (let refused = 0; refused < 5; refused++) await expect(ask()).rejects.toMatchObject({ code: 'tokens_per_min_exceeded' })
  await clock.advance(60_000)
  await expect(ask()).resolves.toBeDefined()
})

test('a request that fails at every provider, or cannot be paid for, uses no tokens of the limit', async () => {
  const failing = acts.status(400)
  const { ask } = createFixture({ ...at('key', { tokensPerMinute: counted }), acts: { first: failing } })
  for (let failed = 0; failed < 3; failed++) await expect(ask()).rejects.toMatchObject({ status: 400 })
  const withoutCredit = createFixture({ caller: { limits: { tokensPerMinute: counted } } })
  for (let failed = 0; failed < 3; failed++) await expect(withoutCredit.ask()).rejects.toMatchObject({ code: 'insufficient_credits' })
})

test('a request that is refused for another reason takes no concurrency slot of its workspace or key', async () => {
  const { ask, engine, credit } = createFixture({
    workspace: { limits: { concurrentRequests: 1 } },
    caller: { limits: { concurrentRequests: 1 } },
  })
  for (let refused = 0; refused < 3; refused++) await expect(ask()).rejects.toMatchObject({ code: 'insufficient_credits' })
  await credit(1_000)
  const slot = { slot: 'other', limit: 1, ttlMs: 60_000 }
  await engine.storage.counters.enter({ ...slot, key: 'workspace/slots:key' }, engine.clock.now())
  await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('This key has reached its limit') })
  await engine.storage.counters.leave('workspace/slots:key', 'other')
  await expect(ask()).resolves.toBeDefined()
})

test('a response that ends after its minute does not correct the count of another minute', async () => {
  const slow = { first: acts.stall(60_010, answer) }
  const patient = { timeouts: defaultTimeouts }
  const { ask, clock } = createFixture({ ...at('key', { tokensPerMinute: used + counted }), acts: slow, engine: patient })
  const alone = { gateway: { routing: { allow_fallbacks: false } } }
  const late = ask(alone)
  await clock.advance(60_000)
  const next = ask(alone)
  await clock.advance(10)
  await late
  await expect(ask()).rejects.toMatchObject({ code: 'tokens_per_min_exceeded' })
  await clock.advance(60_010)
  await next
})

describe('the assumed answer of a request without a maximum', () => {
  const prompt = counted - 10
  const unlimited = { max_output_tokens: null }

  test('refuses nothing under a small limit of tokens: what would fit is answered, until the tokens are used', async () => {
    const { ask } = createFixture(at('key', { tokensPerMinute: 3 * used + prompt - 1 }))
    for (let answered = 0; answered < 3; answered++) await ask(unlimited)
    const error = await ask(unlimited).catch(reason => reason)
    expect(error).toMatchObject({ code: 'tokens_per_min_exceeded', facts: { retryAfterMs: 60_000 } })
    expect(error.message).toContain(`fewer tokens are left in this minute than the prompt and a short answer need (${prompt + 2};`)
    expect(error.message).not.toContain('lower')
  })

  test('takes the room that is left, so that a second request at the same time waits', async () => {
    const { ask, clock } = createFixture({
      ...at('workspace', { tokensPerMinute: 100 }),
      acts: { first: acts.stall(1_000, answer) },
    })
    const running = ask(unlimited)
    await clock.advance(500)
    await expect(ask(unlimited)).rejects.toMatchObject({ code: 'tokens_per_min_exceeded' })
    await clock.advance(500)
    await running
  })

  test('takes half of what is left, and half again, so that few requests at once go beyond the limit', async () => {
    const { ask, clock } = createFixture({ ...at('key', { tokensPerMinute: 2_000 }), acts: { first: acts.stall(1_000, answer) } })
    const asked = Array.from({ length: 60 }, () =>
      ask(unlimited).then(
        () => 'answered',
        ({ code }) => code,
      ),
    )
    await clock.advance(1_000)
    const ends = await Promise.all(asked)
    expect(ends.filter(end => end === 'answered').length).toBeLessThan(8)
    expect(new Set(ends)).toEqual(new Set(['answered', 'tokens_per_min_exceeded']))
  })

  test('does not hide a prompt that is larger than the limit', async () => {
    const { ask } = createFixture(at('key', { tokensPerMinute: prompt - 1 }))
    await expect(ask(unlimited)).rejects.toMatchObject({
      message: `The prompt has about ${prompt} tokens, more than the limit of ${prompt - 1} tokens per minute of this key. Shorten the prompt.`,
      facts: { shouldRetry: false },
    })
  })

  test('is what a budget or credit that is too small names, and not a maximum that nobody set', async () => {
    const { ask } = createFixture({})
    await expect(ask(unlimited)).rejects.toMatchObject({
      code: 'insufficient_credits',
      message: expect.stringContaining('or set `max_output_tokens`, without which the longest answer is assumed.'),
    })
    await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('or lower `max_output_tokens`.') })
  })
})
