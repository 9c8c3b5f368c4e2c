import { createApi } from '@signalbox/api'
import { responsesProvider } from '@signalbox/dialects'
import { createGateway, type Gateway } from '@signalbox/gateway'
import type { Reload } from '@signalbox/workspaces'
import { expect, onTestFinished, test } from 'vitest'
import { acts, fakeClock, scriptedProvider, testModels } from '../src/index.ts'
import { type Answer, type Asked, ask } from './matrix/asking.ts'
import { stores } from './money-scene.ts'

// Money over HTTP, by a key of the workspace: what it may spend, has, and gets.

/** What one call costs: twelve tokens in, three out. */
const cost = 18
const call = { model: 'test-model', input: 'Hello.', max_output_tokens: 20 }

interface Paying {
  readonly credit?: number
  /** Has the money come in at once. Absent: there is no hook. */
  readonly pay?: (gateway: Gateway, workspaceId: string, reload: Reload) => Promise<unknown>
  readonly processes?: number
  readonly store?: keyof typeof stores
}

async function testbed({ credit = 1_000_000, pay, processes = 1, store = 'memory' }: Paying = {}) {
  const clock = fakeClock({ now: Date.UTC(2026, 0, 15) })
  const openStorage = stores[store]()
  const asked: Reload[] = []
  const open = () => {
    const answers = Array.from({ length: 200 }, () => acts.reply({ text: 'Here.', usage: { input: 12, output: 3 } }))
    const provider = scriptedProvider({ id: 'one', dialect: responsesProvider, clock, acts: answers })
    const gateway: Gateway = createGateway({
      providers: [provider],
      models: testModels([{ id: 'one', dialect: 'responses' }]),
      storage: openStorage(),
      clock,
      logger: { info: () => {}, warn: () => {}, error: () => {} },
      ...(pay && {
        billing: {
          onReload: async (id, reload) => {
            asked.push(reload)
            await pay(gateway, id, reload)
          },
        },
      }),
    })
    return { gateway, api: createApi(gateway) }
  }
  const all = Array.from({ length: processes }, open)
  const [{ gateway } = open()] = all
  onTestFinished(async () => {
    const closed = Promise.all(all.map(each => each.gateway.close()))
    // The loser of a race for the claim retries after a moment of the fake clock, which advances only here.
    await clock.advance(60_000)
    await closed
  })
  const { id } = await gateway.workspaces.create({ name: 'Ours' })
  const workspace = gateway.workspaces(id)
  if (credit > 0) await workspace.billing.credit({ reference: 'first', amount: credit })
  const key = await workspace.apiKeys.create({ name: 'all', scopes: '*' })
  const { secret } = key
  let turn = 0
  const http = (row: string, request: Asked = {}): Promise<Answer> => {
    const { api } = all[turn++ % all.length] ?? open()
    return ask({ api, secret }, row.replace('…', `/v1/workspaces/${id}`), request)
  }
  return { http, workspace, key, clock, asked, billing: workspace.billing }
}

const budgetOf = ({ headers }: Answer) => ['limit-usd', 'used-usd', 'remaining-usd', 'reset'].map(name => headers[`x-budget-${name}`])

test('a balance is reported in microdollars, cents and dollars, also if negative', async () => {
  const { http, workspace } = await testbed({ credit: 12_345_678 })
  await workspace.subscription.set({ byokMonthlyRequestCap: 10 })
  expect((await http('GET …/billing/balance')).json).toStrictEqual({
    balance_microdollars: 12_345_678,
    balance_cents: 1_234,
    balance_dollars: '12.34',
    held_microdollars: 0,
    lifetime_purchased_microdollars: 12_345_678,
    lifetime_purchased_cents: 1_234,
    lifetime_used_microdollars: 0,
    lifetime_used_cents: 0,
    auto_reload_enabled: false,
    auto_reload_threshold_microdollars: null,
    auto_reload_threshold_cents: null,
    auto_reload_target_microdollars: null,
    auto_reload_target_cents: null,
    has_payment_method: false,
    byok_monthly_request_cap: 10,
    byok_requests_remaining: 10,
  })
  await workspace.billing.adjust({ reference: 'slip', amount: -12_345_679 })
  expect((await http('GET …/billing/balance')).json).toMatchObject({
    balance_microdollars: -1,
    balance_cents: -1,
    balance_dollars: '-0.01',
  })
})

test('credit is booked once per reference, and the ledger lists it and the spending, page by page', async () => {
  const { http } = await testbed()
  const body = { reference: 'invoice 17', amount_microdollars: 500, note: 'Thanks.' }
  const [once, again] = [await http('POST …/billing/credits', { body }), await http('POST …/billing/credits', { body })]
  expect([once.status, again.status, again.json.balance_microdollars]).toEqual([202, 202, 1_000_500])
  const other = await http('POST …/billing/credits', { body: { ...body, amount_microdollars: 501 } })
  expect([other.status, other.json.error.code]).toEqual([409, 'duplicate_resource'])
  const answer = await http('POST /v1/responses', { body: call })
  const first = await http('GET …/billing/ledger', { query: 'limit=2' })
  expect(first.json).toMatchObject({ object: 'list', count: 2, has_more: true, next: 'credit:invoice 17' })
  expect(first.json.data[0]).toStrictEqual({
    id: `usage:${answer.headers['x-request-id']}`,
    at: '2026-01-15T00:00:00.000Z',
    kind: 'usage',
    amount_microdollars: -cost,
    balance_after_microdollars: 1_000_500 - cost,
    request_id: answer.headers['x-request-id'],
    reference: null,
  })
  const last = await http('GET …/billing/ledger', { query: `after=${encodeURIComponent(first.json.next)}` })
  expect(last.json).toMatchObject({
    count: 1,
    has_more: false,
    next: null,
    data: [{ kind: 'credit', reference: 'first', request_id: null }],
  })
  expect((await http('GET …/billing/ledger', { query: 'from=2026-01-16' })).json.data).toEqual([])
})

test.each(['memory', 'sqlite'] as const)(
  'over %s, credit beyond the largest exact sum is a 409, and balances can be read afterwards',
  async store => {
    const { http } = await testbed({ credit: 0, store })
    const pay = (at: number) => http('POST …/billing/credits', { body: { reference: `r${at}`, amount_microdollars: 1e15 } })
    for (let at = 0; at < 9; at++) expect((await pay(at)).status).toBe(202)
    expect(await pay(9)).toMatchObject({
      status: 409,
      json: { error: { code: 'state_precondition_failed', param: 'amount_microdollars' } },
    })
    expect((await http('GET …/billing/balance')).json).toMatchObject({ balance_microdollars: 9e15 })
    expect((await http('GET …/billing/ledger')).status).toBe(200)
    expect((await http('POST /v1/responses', { body: call })).status).toBe(200)
  },
)

test.each(['responses', 'chat/completions', 'messages'])('an exhausted budget returns 402 on %s, with its state', async path => {
  const { http, key, workspace } = await testbed()
  const body = path === 'responses' ? call : { model: 'test-model', messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 20 }
  const budgets = [
    { name: 'wide', limit_usd: 5, period: 'month' },
    { name: 'watched', limit_usd: 0.000_001, enforce: false },
  ]
  for (const budget of budgets) expect((await http('POST …/budgets', { body: budget })).status).toBe(202)
  // A key cannot limit itself.
  await workspace.budgets.create({ name: 'tight', limit: 100, period: 'day', apiKeyId: key.id })
  expect(budgetOf(await http('GET /v1/me'))).toEqual(['0.0001', '0', '0.0001', '2026-01-16T00:00:00.000Z'])
  let answer = await http(`POST /v1/${path}`, { body })
  for (let calls = 1; answer.status === 200 && calls < 10; calls++) answer = await http(`POST /v1/${path}`, { body })
  expect([answer.status, answer.json.error.code ?? answer.json.error.type]).toEqual([
    402,
    expect.stringMatching(/budget_exceeded|billing_error/),
  ])
  const [limit, used, remaining, reset] = budgetOf(answer)
  expect([limit, reset, answer.headers['x-should-retry']]).toEqual(['0.0001', '2026-01-16T00:00:00.000Z', 'false'])
  expect(Number(used) + Number(remaining)).toBeCloseTo(0.0001, 9)
  const { json } = await http('GET …/budgets')
  expect(json.data.map((each: { used_usd: number }) => each.used_usd)).toEqual([Number(used), Number(used), Number(used)])
})

test('a budget that only observes is reported if no other is enforced', async () => {
  const { http } = await testbed()
  expect(budgetOf(await http('GET /v1/me'))).toEqual([undefined, undefined, undefined, undefined])
  await http('POST …/budgets', { body: { name: 'watched', limit_usd: 2, enforce: false } })
  expect(budgetOf(await http('GET /v1/me'))[0]).toBe('2')
  await http('POST …/budgets', { body: { name: 'all', limit_usd: 1, period: 'total' } })
  expect(budgetOf(await http('GET /v1/me'))).toEqual(['1', '0', '1', 'never'])
})

test('a key can read the budgets that apply to it, each with its state', async () => {
  const { http, key } = await testbed()
  const other = (await http('POST …/api-keys', { body: { name: 'other' } })).json
  for (const budget of [
    { name: 'all', limit_usd: 5 },
    { name: 'tight', limit_usd: 0.0005, period: 'total', api_key_id: key.id, enforce: false },
    { name: 'of another', limit_usd: 1, api_key_id: other.id },
  ])
    expect((await http('POST …/budgets', { body: budget })).status).toBe(202)
  expect((await http('POST /v1/responses', { body: call })).status).toBe(200)
  const [used, resets_at] = [cost / 1e6, '2026-02-01T00:00:00.000Z']
  expect((await http('GET /v1/me')).json.budgets).toStrictEqual([
    { name: 'all', period: 'month', enforce: true, limit_usd: 5, used_usd: used, remaining_usd: 5 - used, resets_at },
    {
      name: 'tight',
      period: 'total',
      enforce: false,
      limit_usd: 0.0005,
      used_usd: used,
      remaining_usd: (500 - cost) / 1e6,
      resets_at: null,
    },
  ])
})

test('auto reload is refused without credit billing, and so are invalid values', async () => {
  const body = { enabled: true, threshold_microdollars: 100, target_microdollars: 500 }
  const { json, status } = await (await testbed()).http('PATCH …/billing/auto-reload', { body })
  expect([status, json.error.code]).toEqual([403, 'operation_not_allowed'])
  const { http } = await testbed({ pay: async () => {} })
  const refused: readonly (readonly [object, string, string])[] = [
    [{ enabled: true }, 'missing_required_parameter', 'threshold_microdollars'],
    [{ threshold_microdollars: 1 }, 'missing_required_parameter', 'target_microdollars'],
    [{ ...body, target_microdollars: 100 }, 'invalid_parameter_value', 'target_microdollars'],
    [{ ...body, threshold_microdollars: -1 }, 'invalid_parameter_value', 'threshold_microdollars'],
  ]
  for (const [input, code, param] of refused)
    expect((await http('PATCH …/billing/auto-reload', { body: input })).json.error).toMatchObject({ code, param })
  expect((await http('PATCH …/billing/auto-reload', { body })).json).toMatchObject({
    auto_reload_enabled: true,
    auto_reload_threshold_microdollars: 100,
    auto_reload_threshold_cents: 0,
    auto_reload_target_microdollars: 500,
  })
  const off = await http('PATCH …/billing/auto-reload', { body: { enabled: false } })
  expect(off.json).toMatchObject({ auto_reload_enabled: false, auto_reload_target_microdollars: 500 })
})

const credited = (gateway: Gateway, id: string, { reference, amount }: Reload) =>
  gateway.workspaces(id).billing.credit({ reference, amount })

test.each(['memory', 'sqlite'] as const)(
  'over %s, concurrent calls of several processes that take credit below its threshold cause one reload',
  async store => {
    const { http, asked, billing, clock } = await testbed({ credit: 2_000, pay: credited, processes: 3, store })
    await http('PATCH …/billing/auto-reload', { body: { enabled: true, threshold_microdollars: 1_900, target_microdollars: 5_000 } })
    const answers = await Promise.all(Array.from({ length: 30 }, () => http('POST /v1/responses', { body: call })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
    await expect.poll(async () => (await billing.balance()).credited).toBeGreaterThan(2_000)
    // Long enough for the loser of the race for the claim to read it again.
    await clock.advance(5_000)
    expect(asked).toHaveLength(1)
    const { balance, credited: paid, spent } = await billing.balance()
    expect([paid - 2_000, spent, balance]).toEqual([asked[0]?.amount, 30 * cost, paid - 30 * cost])
  },
)

test('auto reload that is enabled without credit starts a reload', async () => {
  const { http, asked } = await testbed({ credit: 0, pay: credited })
  await http('PATCH …/billing/auto-reload', { body: { enabled: true, threshold_microdollars: 1_000, target_microdollars: 5_000 } })
  await expect.poll(() => asked.length).toBe(1)
  await expect.poll(async () => (await http('GET …/billing/balance')).json.balance_microdollars).toBe(5_000)
  expect((await http('POST /v1/responses', { body: call })).status).toBe(200)
})

test('a call refused for lack of credit requests an unpaid reload again when it is due', async () => {
  const { http, asked, clock } = await testbed({ credit: 0, pay: () => Promise.reject(new Error('The card was refused.')) })
  const refused = async () => (await http('POST /v1/responses', { body: call })).json.error.code
  await http('PATCH …/billing/auto-reload', { body: { enabled: true, threshold_microdollars: 1_000, target_microdollars: 5_000 } })
  await expect.poll(() => asked.length).toBe(1)
  expect(await refused()).toBe('insufficient_credits')
  await clock.advance(15 * 60_000)
  expect(asked).toHaveLength(1)
  expect(await refused()).toBe('insufficient_credits')
  await expect.poll(() => asked.length).toBe(2)
  expect(asked[1]).toEqual(asked[0])
})
