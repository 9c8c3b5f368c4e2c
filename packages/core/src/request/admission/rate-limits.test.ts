import { acts } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'
import { answer, createFixture, type FixtureOptions } from '../../../test/money/fixture.ts'
import type { CallLimits } from '../../access/kinds.ts'
import { defaultLimits, defaultTimeouts } from '../../options.ts'

/** As much as a request with a cap of ten is counted as: nine tokens of prompt, ten of answer. */
const counted = 19
/** As much as it then uses. */
const used = 15

const at = (whose: 'key' | 'workspace' | 'gateway' | 'gateway, by workspace', limits: CallLimits): FixtureOptions => {
  const postpaid = { billing: 'postpaid' } as const
  if (whose === 'workspace') return { workspace: { ...postpaid, limits } }
  if (whose === 'key') return { workspace: postpaid, caller: { limits } }
  const { requestsPerMinute: inferenceRpm = 1_000, ...others } = limits
  const options = whose === 'gateway' ? { inferenceRpm, ...others } : { workspace: limits }
  return { workspace: postpaid, engine: { limits: { ...defaultLimits, ...options } } }
}

describe.each(['key', 'workspace', 'gateway', 'gateway, by workspace'] as const)('a limit of the %s', whose => {
  const named = whose.includes('workspace') ? 'This workspace' : 'This key'

  test('on requests a minute says so, and when there is room again', async () => {
    const { ask, clock } = createFixture(at(whose, { requestsPerMinute: 2 }))
    await ask()
    await clock.advance(20_000)
    await ask()
    const error = await ask().catch(reason => reason)
    expect(error).toMatchObject({ code: 'requests_per_min_exceeded', status: 429, facts: { limitedBy: 'routing', retryAfterMs: 40_000 } })
    expect(error.message).toContain(`Rate limit reached for ${named.toLowerCase()}: 2 requests per minute`)
    await clock.advance(40_000)
    await ask()
  })

  test('on tokens a minute counts what a request may use, then what it used', async () => {
    const { ask, clock } = createFixture(at(whose, { tokensPerMinute: used + counted }))
    await ask()
    await ask()
    const error = await ask().catch(reason => reason)
    expect(error).toMatchObject({ code: 'tokens_per_min_exceeded', status: 429, facts: { limitedBy: 'routing', retryAfterMs: 60_000 } })
    expect(error.message).toContain(`the limit is ${used + counted} per minute`)
    await clock.advance(60_000)
    await ask()
  })

  test('on requests at the same time is given back when one ends, however it ends', async () => {
    const { ask, clock, providers } = createFixture({
      ...at(whose, { concurrentRequests: 1 }),
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

test('a request that passes the tokens of a whole minute hears that it always will', async () => {
  const { ask, engine } = createFixture(at('key', { tokensPerMinute: counted - 1 }))
  await expect(ask()).rejects.toMatchObject({
    code: 'tokens_per_min_exceeded',
    message: expect.stringContaining(`may use ${counted} tokens, more than the limit of ${counted - 1} tokens per minute of this key`),
  })
  expect(await engine.storage.counters.take([{ key: 'workspace/rpm:key:model', amount: 1, limit: 1, windowMs: 1 }], 0)).toBeUndefined()
})

test('a key with a limit of its own is held to that of its workspace too', async () => {
  const { ask } = createFixture({
    workspace: { billing: 'postpaid', limits: { requestsPerMinute: 1 } },
    caller: { limits: { requestsPerMinute: 5 } },
  })
  await ask()
  await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('for this workspace: 1 requests') })
})

test('what one limit refuses counts against no other', async () => {
  const { ask, clock } = createFixture({
    workspace: { billing: 'postpaid', limits: { tokensPerMinute: counted } },
    caller: { limits: { requestsPerMinute: 2 } },
  })
  await ask()
  for (let refused = 0; refused < 5; refused++) await expect(ask()).rejects.toMatchObject({ code: 'tokens_per_min_exceeded' })
  await clock.advance(60_000)
  await expect(ask()).resolves.toBeDefined()
})

test('a request that nobody answers, or that cannot be paid for, has used no tokens', async () => {
  const failing = acts.status(400)
  const { ask } = createFixture({ ...at('key', { tokensPerMinute: counted }), acts: { first: failing } })
  for (let failed = 0; failed < 3; failed++) await expect(ask()).rejects.toMatchObject({ status: 400 })
  const poor = createFixture({ caller: { limits: { tokensPerMinute: counted } } })
  for (let failed = 0; failed < 3; failed++) await expect(poor.ask()).rejects.toMatchObject({ code: 'insufficient_credits' })
})

test('a request that is refused for another reason takes no place of the workspace, nor of its key', async () => {
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

test('an answer that comes after its minute corrects no other', async () => {
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
