import type { Price } from '@signalbox/dialects/protocol'
import type { HoldRefusal } from '@signalbox/storage/ledger'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { charactersPerToken } from '../../metering/count-text.ts'
import { allowanceOf, runningLimit } from './running-cost.ts'

const held = [
  { account: 'credit:w', floor: 0, amount: 100 },
  { account: 'budget:b', floor: -5, amount: 80 },
  { account: 'byok:w', floor: 0, amount: 1 },
  { account: 'budget:soft', floor: Number.NEGATIVE_INFINITY, amount: 7 },
]

type Extend = (accounts: readonly object[]) => HoldRefusal | undefined | Promise<HoldRefusal | undefined>

function scene(extend: Extend = () => undefined, accounts: typeof held = held) {
  const [extensions, warned]: [object[], object[]] = [[], []]
  const ledger = {
    extend: (extension: { readonly id: string; readonly accounts: readonly object[] }) => {
      extensions.push(extension)
      return extend(extension.accounts)
    },
  }
  const logger = { info: () => {}, error: () => {}, warn: (facts: object) => void warned.push(facts) }
  return { allowance: allowanceOf('r', accounts, { storage: { ledger }, clock: fakeClock(), logger }), extensions, warned }
}

test('the limit of a response is the least of the money accounts that can refuse', () => {
  const { allowance } = scene()
  expect(held.map(({ account }) => allowance.amountOf(account))).toEqual([100, 80, undefined, undefined])
  expect(allowance.least()).toBe(80)
  expect(scene(undefined, held.slice(2)).allowance.least()).toBe(Number.POSITIVE_INFINITY)
})

test('an extension requests an amount for each account that needs more, and the hold grows by it', async () => {
  const { allowance, extensions } = scene()
  expect(await allowance.extend(account => (account === 'budget:b' ? 30 : 0))).toBeUndefined()
  expect(extensions).toEqual([{ id: 'r', accounts: [{ account: 'budget:b', floor: -5, amount: 30 }] }])
  expect([allowance.amountOf('credit:w'), allowance.amountOf('budget:b'), allowance.least()]).toEqual([100, 110, 100])
  expect(held[1]?.amount).toBe(80)
})

test('no extension is requested if no account needs more', async () => {
  const { allowance, extensions } = scene()
  expect(await allowance.extend(() => 0)).toBeUndefined()
  expect(extensions).toEqual([])
})

test('a refusal changes nothing, and a later extension may succeed', async () => {
  let times = 0
  const { allowance } = scene(() => (times++ === 0 ? { account: 'budget:b', available: 3 } : undefined))
  expect(await allowance.extend(() => 30)).toEqual({ account: 'budget:b', available: 3 })
  expect(allowance.least()).toBe(80)
  expect(await allowance.extend(() => 1)).toBeUndefined()
  expect(allowance.least()).toBe(81)
})

test('a ledger that fails counts as a refusal, with a warning; one that has not responded is not called again', async () => {
  const failing = scene(() => Promise.reject(new Error('down')))
  expect(await failing.allowance.extend(() => 1)).toEqual({ account: 'credit:w', available: 0 })
  expect(failing.warned).toEqual([{ requestId: 'r', error: 'Error: down' }])
  const stuck = scene(() => new Promise(() => {}))
  void stuck.allowance.extend(() => 1)
  expect(await stuck.allowance.extend(() => 1)).toEqual({ account: 'credit:w', available: 0 })
  expect(stuck.extensions).toHaveLength(1)
})

/** A microdollar for ten input tokens, and for two output tokens. */
const price = { input: 100_000, output: 500_000 } as Price
const limitOf = (more: Partial<Parameters<typeof runningLimit>[0]> = {}, extend?: Extend, accounts?: typeof held) => {
  const stopped: string[] = []
  const { allowance } = scene(extend, accounts)
  const limit = runningLimit({ allowance, price, inputTokens: 200, stop: why => void stopped.push(why), ...more })
  return { limit, stopped }
}

test('a response may have as many characters as the least account pays for once the prompt is paid', () => {
  expect(limitOf().limit?.characters).toBe((80 - 20) * 2 * charactersPerToken)
  expect(limitOf({ inputTokens: 0 }).limit?.characters).toBe(80 * 2 * charactersPerToken)
  expect(limitOf({ inputTokens: 5_000 }).limit?.characters).toBe(0)
})

test('a response is unlimited without a price, with free output, or on accounts that cannot refuse', () => {
  expect(limitOf({ price: undefined }).limit).toBeUndefined()
  expect(limitOf({ price: { ...price, output: 0 } as Price }).limit).toBeUndefined()
  expect(limitOf({}, undefined, held.slice(2)).limit).toBeUndefined()
})

test('a response that has passed its limit gets half as much again, if all accounts have it', async () => {
  const { limit, stopped } = limitOf()
  await limit?.passed()
  expect(limit?.characters).toBe((120 - 20) * 2 * charactersPerToken)
  expect(stopped).toEqual([])
})

test.each([
  ['credit:w', 'out_of_credit'],
  ['budget:b', 'out_of_budget'],
])('a response ends when %s has no more, once', async (account, why) => {
  const { limit, stopped } = limitOf({}, () => ({ account, available: 0 }))
  await limit?.passed()
  expect(stopped).toEqual([why])
  expect(limit?.characters).toBe(Number.POSITIVE_INFINITY)
})
