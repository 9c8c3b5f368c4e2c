import { expect, test } from 'vitest'
import type { RouterOffer } from './offer.ts'
import { createRouter } from './router.ts'
import type { RouterAttempt, RouterChoice, RouterOptions, RouterRequest } from './types.ts'

const price = { input: 100_000, output: 400_000 }
const offers: readonly RouterOffer[] = [
  { id: 'a', price },
  { id: 'b', price },
]

const made = (more: object = {}) => createRouter({ offers, clock: { now: () => 1_000 }, ...more } as RouterOptions)

test('the old name of an option is refused with the new one', () => {
  expect(() => made({ record: {} })).toThrow('createRouter: there is no option `record`. It is `decisionLog` now.')
})

const started = () => {
  const router = made()
  const choice = router.plan({ inputTokens: 1 }).next()
  if (!choice) throw new Error('A plan has a first choice.')
  return { router, attempt: router.startAttempt(choice) }
}

test.each<readonly [string, () => unknown]>([
  ['seed', () => made({ seed: 'one' })],
  ['seed', () => made({ seed: Number.NaN })],
  ['seed', () => made({ seed: 1n })],
  ['offers', () => made({ offers: {} })],
  ['clock', () => made({ clock: {} })],
  ['clock', () => made({ clock: null })],
  ['id', () => made({ offers: [{ price }] })],
  ['id', () => made({ offers: [null] })],
  ['price.input', () => made({ offers: [{ id: 'a', price: { input: {}, output: 1 } }] })],
  ['price.output', () => made({ offers: [{ id: 'a', price: { input: 1, output: 1e308 } }] })],
  ['price.cached', () => made({ offers: [{ id: 'a', price: { ...price, cached: '1' } }] })],
  ['cacheMs', () => made({ offers: [{ id: 'a', price, cacheMs: -1 }] })],
  ['provider', () => made({ offers: [{ id: 'a', price, provider: 7 }] })],
  ['request', () => made().plan(undefined as unknown as RouterRequest)],
  ['rank', () => made().plan({ inputTokens: 1, rank: 'a' } as unknown as RouterRequest)],
  ['stream', () => made().plan({ inputTokens: 1, stream: 'no' } as unknown as RouterRequest)],
  ['offers', () => made().plan({ inputTokens: 1, offers: 'a' } as unknown as RouterRequest)],
  ['inputTokens', () => made().plan({ inputTokens: Symbol('1') } as unknown as RouterRequest)],
  ['startAttempt', () => made().startAttempt(undefined as unknown as RouterChoice)],
  ['startAttempt', () => made().startAttempt({} as unknown as RouterChoice)],
  ['recordFirstContent', () => made().recordFirstContent({} as unknown as RouterAttempt)],
  ['finishAttempt', () => made().finishAttempt(undefined as unknown as RouterAttempt)],
  ['finishAttempt', () => started().router.finishAttempt(started().attempt, null as unknown as undefined)],
  ['abandonAttempt', () => made().abandonAttempt({ tracked: {} } as unknown as RouterAttempt)],
  ['abandonAttempt', () => made().abandonAttempt({ startedAt: 1 } as unknown as RouterAttempt)],
  ['abandonAttempt', () => made().abandonAttempt(undefined as unknown as RouterAttempt)],
  ['failAttempt', () => made().failAttempt(null as unknown as RouterAttempt, { kind: 'error' })],
  ['share', () => made().updateHeadroom('a', { share: 1n, resetsInMs: 1 } as unknown as { share: number; resetsInMs: number })],
  ['resetsInMs', () => made().updateHeadroom('a', { share: 1 } as unknown as { share: number; resetsInMs: number })],
  ['share', () => made().updateHeadroom('a', null as unknown as { share: number; resetsInMs: number })],
])('a value of the wrong type is refused with a TypeError that names it: %s', (name, act) => {
  expect(act).toThrow(TypeError)
  expect(act).toThrow(`\`${name}\``.replace('`request`', 'A request'))
})

test('an impossibly long prompt still gives finite numbers', () => {
  let now = 0
  const router = made({ clock: { now: () => now } })
  for (let at = 0; at < 5; at += 1) {
    const choice = router.plan({ inputTokens: 1e308, outputTokens: 1e300 }).next()
    if (!choice) throw new Error('A plan has a first choice.')
    const attempt = router.startAttempt(choice)
    now += 500
    router.recordFirstContent(attempt)
    router.finishAttempt(attempt, { outputTokens: 1e308 })
  }
  for (const { estimate, timeoutMs, score } of router.plan({ inputTokens: 1_000, deadlineMs: 60_000 }).choices())
    for (const value of [...Object.values(estimate), timeoutMs, score]) expect(Number.isFinite(value)).toBe(true)
})

test('the highest accepted price still gives finite numbers', () => {
  const router = made({
    offers: [
      { id: 'a', price: { input: 1e18, output: 1e18 } },
      { id: 'b', price },
    ],
  })
  for (const { estimate } of router.plan({ inputTokens: 1e9 }).choices()) {
    expect(Number.isFinite(estimate.cost)).toBe(true)
    expect(estimate.congestionPrice).not.toBeNaN()
  }
})

test('tokens above ten million count as ten million, and no output length is invented for a request', () => {
  const cost = (request: object) =>
    made()
      .plan({ inputTokens: 1, ...request } as RouterRequest)
      .next()?.estimate.cost
  expect(cost({ inputTokens: 1e12 })).toBe(cost({ inputTokens: 10_000_000 }))
  expect(cost({ inputTokens: 10_000_000 })).toBeGreaterThan(cost({ inputTokens: 9_000_000 }) ?? 0)
  expect(cost({ outputTokens: 1e12 })).toBe(cost({ outputTokens: 10_000_000 }))
  expect(cost({ inputTokens: 1e12, outputTokens: 10 })).toBe(cost({ inputTokens: 10_000_000, outputTokens: 10 }))
  expect(cost({ inputTokens: 1e12 })).toBeGreaterThan(cost({ inputTokens: 1e12, outputTokens: 0 }) ?? 0)
})

test.each([
  [true, 'true'],
  [null, 'null'],
  ['x'.repeat(200), `"${'x'.repeat(60)}"`],
  [{}, 'a value of type object'],
])('a refused value is shown if it is short, otherwise by its type: %s', (value, shown) => {
  expect(() => made({ offers: [{ id: 'a', price: { input: value, output: 1 } }] })).toThrow(shown)
})
