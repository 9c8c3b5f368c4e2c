import { acts } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'
import { budget, costOfAnswer, createFixture } from '../../../test/money/fixture.ts'
import type { BudgetUse, Hooks } from '../../runtime/ports.ts'

/** The most that `ask` may cost: its prompt with a margin, and ten output tokens. */
const most = 40
const month = ':2026-03-01'

describe('budgets', () => {
  test('an enforced budget refuses a request that may exceed it, reports its state, and leaves no hold', async () => {
    const { ask, credit, balance, held } = createFixture({ budgets: [budget('b', { name: 'monthly', limit: most })] })
    await credit(1_000_000)
    await ask()
    await expect(ask()).rejects.toMatchObject({
      code: 'budget_exceeded',
      status: 402,
      message: expect.stringContaining('"monthly"'),
      facts: { budget: { limit: most, used: costOfAnswer, remaining: most - costOfAnswer, resetsAt: Date.UTC(2026, 3, 1) } },
    })
    expect(await balance(`budget:b${month}`)).toBe(-costOfAnswer)
    expect([await held(`budget:b${month}`), await held('credit:workspace')]).toEqual([0, 0])
  })

  test('a daily budget resets with its period; a total budget never resets', async () => {
    const { ask, clock } = createFixture({ workspace: { billing: 'postpaid' }, budgets: [budget('d', { limit: most, period: 'day' })] })
    await ask()
    await expect(ask()).rejects.toMatchObject({ code: 'budget_exceeded' })
    await clock.advance(86_400_000)
    await ask()
    const total = createFixture({ workspace: { billing: 'postpaid' }, budgets: [budget('t', { limit: most, period: 'total' })] })
    await total.ask()
    await total.clock.advance(400 * 86_400_000)
    const { facts } = await total.ask().catch(error => error)
    expect(facts.budget).toEqual({ limit: most, used: costOfAnswer, remaining: most - costOfAnswer })
  })

  test('a budget of another key is not charged', async () => {
    const budgets = [budget('k', { limit: 1, scope: 'api_key', apiKeyId: 'other' })]
    const { ask, balance } = createFixture({ workspace: { billing: 'postpaid' }, budgets })
    await ask()
    expect(await balance(`budget:k${month}`)).toBe(0)
  })

  test('a budget that is not enforced counts the cost and refuses nothing', async () => {
    const { ask, balance } = createFixture({ workspace: { billing: 'postpaid' }, budgets: [budget('w', { limit: 1, enforce: false })] })
    await ask()
    await ask()
    expect(await balance(`budget:w${month}`)).toBe(-2 * costOfAnswer)
  })
})

describe('the onBudget hook', () => {
  async function usesAfter(body: Parameters<typeof budget>[1], calls: number) {
    const uses: BudgetUse[] = []
    const hooks: Hooks = { onBudget: use => void uses.push(use) }
    const { ask, engine } = createFixture({ workspace: { billing: 'postpaid' }, budgets: [budget('b', body)], engine: { hooks } })
    await Promise.all(Array.from({ length: calls }, () => ask()))
    await Promise.all(engine.pending)
    return uses
  }

  test('is called once for each alert share, however many requests end at the same time', async () => {
    const uses = await usesAfter({ limit: 10 * costOfAnswer, alertAt: [0.25, 0.5], enforce: false }, 40)
    expect(uses.map(({ share }) => share)).toEqual([0.25, 0.5, 1])
    expect(uses[1]).toEqual({
      workspaceId: 'workspace',
      budgetId: 'b',
      share: 0.5,
      used: 5 * costOfAnswer,
      limit: 10 * costOfAnswer,
    })
  })

  test('is not called below the first alert share, or for a budget without alerts', async () => {
    expect(await usesAfter({ limit: 1_000_000, alertAt: [0.5] }, 3)).toEqual([])
    expect(await usesAfter({ limit: 1_000_000 }, 3)).toEqual([])
  })

  test('may throw without failing the request', async () => {
    const hooks: Hooks = { onBudget: () => Promise.reject(new Error('The hook failed.')) }
    const budgets = [budget('b', { limit: 1, enforce: false })]
    const { ask } = createFixture({ workspace: { billing: 'postpaid' }, budgets, engine: { hooks } })
    await expect(ask()).resolves.toMatchObject({ outcome: { status: 'completed' } })
  })
})

test('a failed request costs nothing and leaves no hold on any account', async () => {
  const failing = acts.status(400)
  const { ask, held, balance } = createFixture({ budgets: [budget('b', { limit: 1_000 })], acts: { first: failing, second: failing } })
  await expect(ask()).rejects.toMatchObject({ code: 'insufficient_credits' })
  const rich = createFixture({ workspace: { billing: 'postpaid' }, budgets: [budget('b', { limit: 1_000 })], acts: { first: failing } })
  await expect(rich.ask()).rejects.toMatchObject({ status: 400 })
  for (const account of ['credit:workspace', `budget:b${month}`]) {
    expect([await held(account), await balance(account)]).toEqual([0, 0])
    expect([await rich.held(account), await rich.balance(account)]).toEqual([0, 0])
  }
})
