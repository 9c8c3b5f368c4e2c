import { expect, test } from 'vitest'
import type { RouterOffer } from './port.ts'
import { createRouter } from './router.ts'
import { decodeTrace, encodeTraceText } from './trace.ts'

const price = { input: 500_000, output: 1_500_000, cached: 50_000 }
const offers: readonly RouterOffer[] = Array.from({ length: 4 }, (_, at) => ({ id: `offer-${at}`, provider: `p${at}`, price }))
const secret = { secret: 'an owner’s own' }

function flown(attempts: number) {
  const clock = { now: () => 1_000, monotonic: () => 1_000 }
  const router = createRouter({ offers: offers.map(offer => ({ ...offer, ...secret })), clock, seed: 7, record: {} })
  const plan = router.plan({ inputTokens: 900, stream: true, deadlineMs: 20_000 })
  for (let attempt = 0; attempt < attempts; attempt++) {
    const choice = plan.next()
    if (choice) router.failed(router.started(choice), { kind: 'error' })
  }
  return plan
}

test('the text of a flight is what its trace would be written as, byte for byte', () => {
  const { flight, flightText } = flown(3)
  const trace = flight?.()
  expect(trace?.decisions).toHaveLength(3)
  expect(flightText?.(10_000)).toBe(trace && encodeTraceText(trace))
})

test('of many decisions the first are kept, and it tells how many went', () => {
  const { flight, flightText } = flown(4)
  const [first] = flight?.().decisions ?? []
  const short = decodeTrace(flightText?.(1) ?? '')
  expect(short).toEqual({ version: 1, seed: 7, dropped: 3, decisions: [first] })
  expect(flightText?.(1)).not.toContain(secret.secret)
})
