import { webClock } from '../runtime/web.ts'
import { createBrain } from './brain.ts'
import {
  checkAttempt,
  checkChoice,
  checkFailed,
  checkHeadroom,
  checkOffer,
  checkOptions,
  checkPreference,
  saneUsed,
  soundRequest,
} from './check.ts'
import type { Recorded, Router, RouterOptions } from './port.ts'

/**
 * The brain alone: it chooses and learns, and calls nobody. Tell it what happens, and drive it in a simulator, a test, or a
 * gateway of your own.
 *
 * @example
 * const router = createRouter({ offers: [{ id: 'a', price: { input: 500_000, output: 1_600_000 } }, b], preference: 'balanced' })
 * const plan = router.plan({ inputTokens: 900, cacheKey: 'conversation-7' })
 * for (let choice = plan.next(); choice; choice = plan.next()) {
 *   const attempt = router.started(choice)
 *   const reply = await ask(choice.offer, choice.timeoutMs, () => router.firstContent(attempt))
 *   if (reply.ok) { router.finished(attempt, { outputTokens: reply.outputTokens }); break }
 *   router.failed(attempt, { kind: reply.kind, retryAfterMs: reply.retryAfterMs })
 * }
 */
export function createRouter(options: RouterOptions): Router & Recorded {
  checkOptions(options)
  const { offers, preference = 'balanced', clock, seed = 1, record } = options
  for (const offer of offers) checkOffer(offer)
  checkPreference(preference)
  const brain = createBrain({ monotonic: ticking(clock), preference, seed, record })
  const contenders = new Map(offers.map(offer => [offer.id, brain.contender(offer)]))
  if (contenders.size < offers.length || contenders.size === 0) {
    throw new TypeError(
      contenders.size === 0 ? 'createRouter: `offers` is empty; it takes at least one.' : 'createRouter: two `offers` have the same `id`.',
    )
  }
  const all = [...contenders.values()]
  const named = (id: string) => {
    const contender = contenders.get(id)
    if (contender) return contender
    throw new TypeError(`There is no offer "${id}"; there are ${[...contenders.keys()].join(', ')}.`)
  }
  return {
    ...brain,
    plan(asked) {
      const request = soundRequest(asked)
      return brain.plan(request, request.offers ? [...new Set(request.offers)].map(named) : all)
    },
    started(choice) {
      checkChoice(choice)
      return brain.started(choice)
    },
    firstContent(attempt) {
      checkAttempt(attempt, 'firstContent')
      brain.firstContent(attempt)
    },
    finished(attempt, used = {}) {
      checkAttempt(attempt, 'finished')
      brain.finished(attempt, saneUsed(used))
    },
    left(attempt) {
      checkAttempt(attempt, 'left')
      brain.left(attempt)
    },
    failed(attempt, failed) {
      checkAttempt(attempt, 'failed')
      checkFailed(failed)
      brain.failed(attempt, failed)
    },
    headroom(offerId, seen) {
      checkHeadroom(seen)
      brain.headroom(named(offerId), seen)
    },
  }
}

function ticking(clock: RouterOptions['clock']): () => number {
  if (clock === undefined) return ticking(webClock())
  return 'monotonic' in clock ? () => clock.monotonic() : () => clock.now()
}
