import { usd } from '@signalbox/dialects/protocol'
import type { GatewayOptions } from '@signalbox/gateway'
import { expect, test } from 'vitest'
import { codeOf, createFixture, type Fixture } from '../../test/fixture.ts'

const of = ({ gateway }: Fixture, workspace = 'w') => gateway.workspaces(workspace)
const spend = ({ storage, now }: Fixture, id: string, amount: number) =>
  storage.ledger.settle({ id, amounts: { 'credit:w': amount }, at: now.ms })

test('a new workspace has no credit, holds or reload settings', async () => {
  expect(await of(await createFixture()).billing.balance()).toStrictEqual({
    balance: 0,
    held: 0,
    credited: 0,
    spent: 0,
    autoReload: { enabled: false },
    hasPaymentMethod: false,
  })
})

test('fifty equal top-ups at once are one entry and one audit row', async () => {
  const scene = await createFixture()
  const other = await createFixture({ storage: scene.storage, now: scene.now })
  const both = [scene, other].map(each => of(each).billing)
  const input = { reference: 'invoice 17', amount: 5_000_000 }
  await Promise.all(Array.from({ length: 50 }, (_, at) => both[at % 2]?.credit(input)))
  expect(await of(scene).billing.ledger()).toHaveLength(1)
  expect(await of(other).billing.balance()).toMatchObject({ balance: 5_000_000, credited: 5_000_000 })
  expect(await of(scene).auditEvents.list({ event: 'credit.created' })).toHaveLength(1)
})

test('credit beyond exact numbers is a 409 with advice, and the workspace stays unchanged', async () => {
  const { billing } = of(await createFixture())
  for (let at = 0; at < 9; at++) await billing.credit({ reference: `r${at}`, amount: 1e15 })
  await expect(billing.credit({ reference: 'r9', amount: 1e15 })).rejects.toMatchObject({
    code: 'state_precondition_failed',
    status: 409,
    message: expect.stringContaining('`billing.adjust`'),
    facts: { param: 'amount' },
  })
  expect(await billing.balance()).toMatchObject({ balance: 9e15, credited: 9e15 })
  expect(await billing.ledger()).toHaveLength(9)
  await billing.adjust({ reference: 'back', amount: -1e15 })
  expect(await billing.credit({ reference: 'r9', amount: 1e15 })).toMatchObject({ balance: 9e15, credited: 9e15 })
})

test('a reference identifies one amount of one kind', async () => {
  const scene = await createFixture()
  const { billing } = of(scene)
  await billing.credit({ reference: 'a', amount: 5 })
  await billing.adjust({ reference: 'b', amount: -7, note: 'Counted twice.' })
  expect(await billing.adjust({ reference: 'b', amount: -7 })).toMatchObject({ balance: -2, credited: -2 })
  expect(await codeOf(billing.credit({ reference: 'a', amount: 6 }))).toBe('duplicate_resource')
  expect(await codeOf(billing.adjust({ reference: 'a', amount: 5 }))).toBe('duplicate_resource')
  await expect(billing.adjust({ reference: 'b', amount: 5 })).rejects.toThrow('The reference "b" was already used for another amount')
  expect(await codeOf(billing.credit({ reference: 'b', amount: 7 }))).toBe('duplicate_resource')
  await spend(scene, 'request', 1)
  expect(await codeOf(billing.credit({ reference: 'request', amount: 1 }))).toBe('duplicate_resource')
  expect((await of(scene).auditEvents.list()).map(({ event }) => event)).toEqual([
    'adjustment.created',
    'credit.created',
    'workspace.created',
  ])
})

test.each([
  [{ reference: 'a', amount: 0 }, 'amount'],
  [{ reference: 'a', amount: -1 }, 'amount'],
  [{ reference: 'a', amount: 0.5 }, 'amount'],
  [{ reference: 'a', amount: 1e16 }, 'amount'],
  [{ reference: '', amount: 1 }, 'reference'],
  [{ reference: 'x'.repeat(256), amount: 1 }, 'reference'],
  [{ reference: 'a', amount: 1, note: 'x'.repeat(1_001) }, 'note'],
])('a credit of %j is refused, naming the field', async (input, param) => {
  const { billing } = of(await createFixture())
  await expect(billing.credit(input)).rejects.toMatchObject({ code: 'invalid_parameter_value', facts: { param } })
  expect(await billing.ledger()).toEqual([])
})

test('an adjustment of 0 is refused, and so is credit for a workspace that does not exist', async () => {
  const scene = await createFixture()
  expect(await codeOf(of(scene).billing.adjust({ reference: 'a', amount: 0 }))).toBe('invalid_parameter_value')
  for (const call of [
    of(scene, 'nowhere').billing.credit({ reference: 'a', amount: 1 }),
    of(scene, 'nowhere').billing.balance(),
    of(scene, 'nowhere').billing.autoReload.update({ enabled: false }),
    of(scene, 'nowhere').subscription.get(),
    of(scene, 'nowhere').subscription.set({ plan: 'x' }),
    of(scene, 'nowhere').budgets.create({ name: 'b', limit: usd(1) }),
  ])
    expect(await codeOf(call)).toBe('resource_not_found')
})

test('the ledger lists each change of the credit, newest first, and of no other account', async () => {
  const scene = await createFixture()
  const { billing } = of(scene)
  const at = scene.now.ms
  await billing.credit({ reference: 'invoice 17', amount: 10, note: 'Thanks.' })
  await scene.storage.ledger.settle({ id: 'r', amounts: { 'credit:w': 4, 'budget:b': 4 }, at })
  await billing.adjust({ reference: 'slip', amount: -1 })
  expect(await billing.ledger()).toStrictEqual([
    { id: 'adjustment:slip', at, kind: 'adjustment', amount: -1, balanceAfter: 5, reference: 'slip' },
    { id: 'usage:r', at, kind: 'usage', amount: -4, balanceAfter: 6, requestId: 'r' },
    { id: 'credit:invoice 17', at, kind: 'credit', amount: 10, balanceAfter: 10, reference: 'invoice 17', note: 'Thanks.' },
  ])
  expect(await of(scene, 'other').billing.ledger()).toEqual([])
})

test('pages of the ledger neither skip nor repeat entries, in any time range', async () => {
  const scene = await createFixture()
  const { billing } = of(scene)
  const start = scene.now.ms
  for (let n = 0; n < 25; n++) {
    scene.now.ms = start + n
    await (n % 2 ? spend(scene, `r:${n}`, n) : billing.credit({ reference: `c:${n}`, amount: 100 }))
  }
  const all = (await billing.ledger()).map(({ id }) => id)
  expect(all[0]).toBe('credit:c:24')
  const seen: string[] = []
  for (;;) {
    const after = seen.at(-1)
    const page = await billing.ledger({ limit: 4, ...(after !== undefined && { after }) })
    if (page.length === 0) break
    seen.push(...page.map(({ id }) => id))
  }
  expect(seen).toEqual(all)
  const span = { from: start + 5, to: start + 8 }
  expect((await billing.ledger(span)).map(({ id }) => id)).toEqual(['usage:r:7', 'credit:c:6', 'usage:r:5'])
  expect((await billing.ledger({ ...span, after: 'usage:r:7', limit: 1 })).map(({ id }) => id)).toEqual(['credit:c:6'])
  expect(await billing.ledger({ after: 'usage:nobody' })).toEqual([])
})

test('the operator decides which workspaces can pay; if that fails, none can', async () => {
  const scene = await createFixture({ billing: { hasPaymentMethod: async id => id === 'w' } })
  expect(await of(scene).billing.balance()).toMatchObject({ hasPaymentMethod: true })
  expect(await of(scene, 'other').billing.balance()).toMatchObject({ hasPaymentMethod: false })
  const broken = await createFixture({ billing: { hasPaymentMethod: () => Promise.reject(new Error('Down.')) } })
  expect(await of(broken).billing.balance()).toMatchObject({ hasPaymentMethod: false })
})

test('a hook that is not a function is refused when the gateway is created, not when credit runs low', async () => {
  const billing = { onReload: '' } as unknown as NonNullable<GatewayOptions['billing']>
  await expect(createFixture({ billing })).rejects.toThrow('createGateway: `billing.onReload` is a string; it takes a function.')
})

test('requests with BYOK credentials are counted down in each month', async () => {
  const scene = await createFixture()
  const { billing, subscription } = of(scene)
  await subscription.set({ byokMonthlyRequestCap: 3 })
  for (const id of ['a', 'b']) await scene.storage.ledger.settle({ id, amounts: { 'byok:w:2026-01': 1 }, at: scene.now.ms })
  expect(await billing.balance()).toMatchObject({ byokMonthlyRequestCap: 3, byokRequestsRemaining: 1 })
  await subscription.set({ byokMonthlyRequestCap: 1 })
  expect(await billing.balance()).toMatchObject({ byokMonthlyRequestCap: 1, byokRequestsRemaining: 0 })
  scene.now.ms = Date.UTC(2026, 1)
  expect(await billing.balance()).toMatchObject({ byokRequestsRemaining: 1 })
  await subscription.set({ byokMonthlyRequestCap: null })
  expect(await billing.balance()).not.toHaveProperty('byokRequestsRemaining')
})

test('a subscription is what the operator sets, otherwise the monthly default', async () => {
  const scene = await createFixture()
  const { subscription } = of(scene)
  const usual = { plan: 'standard', status: 'active', currentPeriodStart: Date.UTC(2026, 0), currentPeriodEnd: Date.UTC(2026, 1) }
  expect(await subscription.get()).toStrictEqual(usual)
  const end = new Date(Date.UTC(2027, 0))
  await subscription.set({ plan: 'pro', status: 'past_due', byokMonthlyRequestCap: 0, currentPeriodEnd: end })
  expect(await subscription.get()).toStrictEqual({
    ...usual,
    plan: 'pro',
    status: 'past_due',
    byokMonthlyRequestCap: 0,
    currentPeriodEnd: end.getTime(),
  })
  await subscription.set({ plan: null, byokMonthlyRequestCap: null, currentPeriodEnd: null })
  expect(await subscription.get()).toStrictEqual({ ...usual, status: 'past_due' })
  expect(await codeOf(subscription.set({ byokMonthlyRequestCap: -1 }))).toBe('invalid_parameter_value')
  expect(await codeOf(subscription.set({ currentPeriodEnd: new Date('never') }))).toBe('invalid_parameter_value')
  expect(await of(scene).auditEvents.list({ event: 'subscription.updated' })).toHaveLength(2)
})
