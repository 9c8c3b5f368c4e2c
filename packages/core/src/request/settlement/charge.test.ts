import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { OutputPaces } from '../../metering/hidden-tokens.ts'
import type { CommittedAttempt } from '../../upstream/attempt.ts'
import type { Bill, BillContext } from './bill.ts'
import { learnPace, payableBill } from './charge.ts'
import type { Allowance } from './running-cost.ts'

const owing = {
  facts: { requestId: 'r', workspaceId: 'w', keyId: 'k', model: 'm' },
  policy: { budgets: [] } as unknown as WorkspacePolicy,
  at: 0,
} satisfies BillContext
const account = 'credit:w'
const bill = (cost: number, byokCost = 0): Bill => ({ cost, byokCost, isByok: false })

interface Played {
  /** Microdollars held. */
  readonly held: number
  /** What could be held in addition, at each extension. */
  readonly free: readonly number[]
}

/** Pays a bill from held and free balance, and lists the amounts that were requested. */
function paid(owed: Bill, { held, free }: Played) {
  const requested: number[] = []
  const allowance: Allowance = {
    amountOf: name => (name === account ? held : undefined),
    least: () => held,
    extend(more) {
      const [amount, available] = [more(account), free[Math.min(requested.length, free.length - 1)] ?? 0]
      requested.push(amount)
      return amount > available ? { account, available } : undefined
    },
  }
  return { bill: payableBill(owed, owing, allowance) as Bill, requested }
}

test('a bill within the hold is paid without an extension', () => {
  expect(paid(bill(70), { held: 70, free: [0] })).toEqual({ bill: bill(70), requested: [] })
})

test('the missing amount is held in addition, or as much of it as is available', () => {
  expect(paid(bill(100), { held: 70, free: [30] })).toEqual({ bill: bill(100), requested: [30] })
  expect(paid(bill(100), { held: 70, free: [12] })).toEqual({ bill: bill(82), requested: [30, 12] })
  expect(paid(bill(100), { held: 70, free: [0] })).toEqual({ bill: bill(70), requested: [30] })
  expect(paid(bill(100), { held: 70, free: [-5] })).toEqual({ bill: bill(70), requested: [30] })
})

test('while others spend at the same time each refusal requests less, and a second one of an account requests no more', () => {
  expect(paid(bill(100), { held: 70, free: [20, 10, 5] })).toEqual({ bill: bill(70), requested: [30, 20, 10] })
  expect(paid(bill(100), { held: 70, free: [20, 10] })).toEqual({ bill: bill(80), requested: [30, 20, 10] })
})

test('an account that cannot refuse pays all of it', () => {
  const nothing: Allowance = { amountOf: () => undefined, least: () => Number.POSITIVE_INFINITY, extend: () => undefined }
  expect(payableBill(bill(100), owing, nothing)).toEqual(bill(100))
})

test('a shortfall is taken from the cost first, then from the provider’s charge', () => {
  const whole = { ...owing, policy: { budgets: [] } as unknown as WorkspacePolicy }
  const stuck: Allowance = { amountOf: () => 0, least: () => 0, extend: () => ({ account, available: 0 }) }
  expect(payableBill(bill(100, 40), whole, stuck)).toEqual(bill(0, 40))
})

test('the payment never exceeds held and free balance, is never less than the hold, and has no shortfall if the balance suffices', () => {
  const amount = fc.integer({ min: 0, max: 1_000 })
  fc.assert(
    fc.property(amount, amount, amount, (cost, held, free) => {
      const { bill: payable, requested } = paid(bill(cost), { held, free: [free] })
      expect(payable.cost).toBe(Math.min(cost, held + free))
      expect(requested.length).toBeLessThanOrEqual(2)
    }),
  )
})

test('the output rate of an offer is learned from responses with stated usage that were sent, and read without pauses', () => {
  const learned: unknown[] = []
  const paces = { of: () => undefined, learn: (...given: readonly unknown[]) => void learned.push(given) } as OutputPaces
  const committedBy = (pausedShare: number) =>
    ({ sentAt: 100, selected: { contender: { offer: { id: 'o' } } }, pausedShare: () => pausedShare }) as unknown as CommittedAttempt
  const committed = committedBy(0.05)
  const usage = { input_tokens: 1, output_tokens: 50, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
  learnPace({ paces }, committedBy(0.0501), { usage, endedAt: 1_100 })
  learnPace({ paces }, committed, { usage, endedAt: 1_100 })
  learnPace({ paces }, committed, { usage: { ...usage, estimated: true }, endedAt: 1_100 })
  learnPace({ paces }, { ...committed, sentAt: undefined } as unknown as CommittedAttempt, { usage, endedAt: 1_100 })
  expect(learned).toEqual([['o', { outputTokens: 50, milliseconds: 1_000 }]])
})
