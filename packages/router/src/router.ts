import { createDynamicRouter } from './dynamic-router.ts'
import type { Recorded, Router, RouterOptions } from './types.ts'
import {
  checkAttempt,
  checkChoice,
  checkFailure,
  checkHeadroom,
  checkOffer,
  checkOptions,
  checkPreference,
  validRequest,
  validUsage,
} from './validate-input.ts'

/**
 * Creates a router for a fixed set of offers. It chooses and learns but makes no calls: report to it what happens to each call. Use it in
 * your own gateway, a simulator or a test.
 *
 * @example
 * const router = createRouter({ offers: [{ id: 'a', price: { input: 500_000, output: 1_600_000 } }, b], preference: 'balanced' })
 * const plan = router.plan({ inputTokens: 900, cacheKey: 'conversation-7' })
 * for (let choice = plan.next(); choice; choice = plan.next()) {
 *   const attempt = router.startAttempt(choice)
 *   const reply = await ask(choice.offer, choice.timeoutMs, () => router.recordFirstContent(attempt))
 *   if (reply.ok) { router.finishAttempt(attempt, { outputTokens: reply.outputTokens }); break }
 *   router.failAttempt(attempt, { kind: reply.kind, retryAfterMs: reply.retryAfterMs })
 * }
 *
 * @throws {TypeError} Names the invalid option. Its methods throw one that names the invalid field of their input.
 */
export function createRouter(options: RouterOptions): Router & Recorded {
  checkOptions(options)
  const { offers, preference = 'balanced', clock, seed = 1, decisionLog } = options
  for (const offer of offers) checkOffer(offer)
  checkPreference(preference)
  const router = createDynamicRouter({ monotonic: clockOf(clock), preference, seed, decisionLog })
  const candidates = new Map(offers.map(offer => [offer.id, router.trackOffer(offer)]))
  if (candidates.size < offers.length || candidates.size === 0) {
    throw new TypeError(
      candidates.size === 0 ? 'createRouter: `offers` is empty; it takes at least one.' : 'createRouter: two `offers` have the same `id`.',
    )
  }
  const all = [...candidates.values()]
  const offerNamed = (id: string) => {
    const tracked = candidates.get(id)
    if (tracked) return tracked
    throw new TypeError(`There is no offer "${id}"; there are ${[...candidates.keys()].join(', ')}.`)
  }
  return {
    ...router,
    plan(input) {
      const request = validRequest(input)
      return router.plan(request, request.offers ? [...new Set(request.offers)].map(offerNamed) : all)
    },
    startAttempt(choice) {
      checkChoice(choice)
      return router.startAttempt(choice)
    },
    recordFirstContent(attempt) {
      checkAttempt(attempt, 'recordFirstContent')
      router.recordFirstContent(attempt)
    },
    finishAttempt(attempt, used = {}) {
      checkAttempt(attempt, 'finishAttempt')
      router.finishAttempt(attempt, validUsage(used))
    },
    abandonAttempt(attempt) {
      checkAttempt(attempt, 'abandonAttempt')
      router.abandonAttempt(attempt)
    },
    failAttempt(attempt, failed) {
      checkAttempt(attempt, 'failAttempt')
      checkFailure(failed)
      router.failAttempt(attempt, failed)
    },
    updateHeadroom(offerId, seen) {
      checkHeadroom(seen)
      router.updateHeadroom(offerNamed(offerId), seen)
    },
  }
}

function clockOf(clock: RouterOptions['clock']): () => number {
  if (clock === undefined) return () => performance.now()
  return 'monotonic' in clock ? () => clock.monotonic() : () => clock.now()
}
