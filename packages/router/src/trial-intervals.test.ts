import { expect, test } from 'vitest'
import type { RouterOffer } from './offer.ts'
import { preferences } from './preferences.ts'
import { createRouter } from './router.ts'
import type { RouterPlan } from './types.ts'

// When an offer that fails every call is tried again: by the size of requests and by how many come.

const usd = (input: number, output: number) => ({ input: input * 1e6, output: output * 1e6 })
const offers: readonly RouterOffer[] = [
  { id: 'cheap', price: usd(0.5, 1) },
  { id: 'dear', price: usd(1, 2) },
]
const outageAt = 60_000
const endAt = 960_000

interface Load {
  readonly perSecond: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The seconds since the outage of the cheap offer began at which it was tried. The other offer answers each call in 0.3 s. */
function trialsDuringOutage({ perSecond, inputTokens, outputTokens }: Load): readonly number[] {
  let now = 0
  const router = createRouter({ offers, preference: preferences.balanced, clock: { now: () => now }, seed: 1 })
  const pending: { readonly at: number; readonly end: () => void }[] = []
  const trials: number[] = []
  const send = (plan: RouterPlan): void => {
    const choice = plan.next()
    if (!choice) return
    const attempt = router.startAttempt(choice)
    if (choice.offer.id === 'cheap' && now >= outageAt) {
      trials.push((now - outageAt) / 1_000)
      router.failAttempt(attempt, { kind: 'error' })
      send(plan)
      return
    }
    pending.push({ at: now + 300, end: () => router.finishAttempt(attempt, { outputTokens }) })
  }
  for (let request = 0; (request * 1_000) / perSecond < endAt; request += 1) {
    const arrivesAt = (request * 1_000) / perSecond
    for (let next = pending[0]; next && next.at <= arrivesAt; next = pending[0]) {
      pending.shift()
      now = next.at
      next.end()
    }
    now = arrivesAt
    send(router.plan({ inputTokens, outputTokens, deadlineMs: 20_000 }))
  }
  return trials
}

/** Trials from the third minute on. */
const later = (load: Load): readonly number[] => trialsDuringOutage(load).filter(seconds => seconds > 120)

test('the more the requests forgo, and the more of them come, the sooner an offer that fails is tried again', () => {
  const small = { inputTokens: 60, outputTokens: 40 }
  const usual = { inputTokens: 1_000, outputTokens: 300 }
  const counts = [1, 3, 8].map(perSecond => [later({ perSecond, ...small }).length, later({ perSecond, ...usual }).length])
  const [atOne = [], atThree = [], atEight = []] = counts
  expect(atOne[0]).toBeGreaterThan(2)
  expect(atThree[0]).toBeGreaterThan(atOne[0] as number)
  expect(atEight[0]).toBeGreaterThan(atThree[0] as number)
  for (const [ofSmall = 0, ofUsual = 0] of counts) expect(ofUsual).toBeGreaterThan(2 * ofSmall)
})

test('an offer that could be better by less than is known of the other is tried only once unobserved, at any rate', () => {
  for (const perSecond of [1, 3, 8]) {
    const trials = later({ perSecond, inputTokens: 10, outputTokens: 10 })
    const gaps = trials.slice(1).map((seconds, at) => seconds - (trials[at] ?? 0))
    expect({ perSecond, gaps: gaps.map(Math.floor) }).toEqual({ perSecond, gaps: [401] })
  }
})
