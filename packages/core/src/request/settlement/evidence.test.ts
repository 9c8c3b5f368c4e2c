import { createDynamicRouter, createRouter, type RouterOffer } from '@signalbox/router'
import { decisionLogLimits, type Trace } from '@signalbox/router/decision-log'
import { acts } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { answer, createFixture, type FixtureOptions } from '../../../test/money/fixture.ts'
import { recordsOf } from '../../access/records.ts'
import { createCandidateTracker } from '../../routing/tracked-offers.ts'
import { evidenceFrom, evidenceText, keepsFullEvidence } from './evidence.ts'
import { createRetention } from './retention.ts'

const dayMs = 86_400_000

function recorded(options: FixtureOptions = {}) {
  const { clock } = createFixture()
  const router = createDynamicRouter({ monotonic: clock.monotonic, preference: 'balanced', seed: 1, decisionLog: {} })
  const parts = { router, trackCandidate: createCandidateTracker(router), storedShare: 1, ...options.engine }
  return createFixture({ workspace: { billing: 'postpaid' }, ...options, engine: parts })
}

test('a usage row explains in any process how its request was routed', async () => {
  const gone = acts.status(404)
  const { ask, engine } = recorded({ acts: { first: gone }, workspace: { billing: 'postpaid' } })
  await ask({}, 'r')
  const row = await engine.storage.usage.find('workspace', 'r')
  expect(evidenceFrom(row?.routing)).toMatchObject({
    strategy: 'order',
    weighed_by: 'balanced',
    order: ['first/m@platform', 'second/m@platform'],
    attempts: [{ provider: 'first' }, { provider: 'second', outcome: 'ok' }],
    excluded: [],
  })
})

test('a row is small, also for a request with many exclusions and attempts', async () => {
  const settings = { blockedProviders: ['second'] }
  const { ask, engine } = recorded({ workspace: { billing: 'postpaid', settings }, acts: { first: acts.status(404) } })
  await ask({}, 'r').catch(() => {})
  const row = await engine.storage.usage.find('workspace', 'r')
  expect(evidenceFrom(row?.routing)?.excluded).toMatchObject([
    { provider: 'second', reason: "the workspace's settings do not allow the provider" },
  ])
  expect(row?.routing?.length).toBeLessThan(2_000)
})

const summary = {
  version: 2,
  detail: 'summary',
  seed: 3,
  strategy: 'order',
  weighed_by: 'latency',
  order: ['b', 'a'],
  excluded_counts: { deprecated: 2 },
  attempts: [
    {
      offer: 'b',
      provider: null,
      model: 'm',
      reason: 'exploration',
      outcome: 'timeout',
      sent_after_ms: 5,
      first_content_ms: null,
      total_ms: 2_500,
      output_tokens: null,
      cached_tokens: null,
    },
  ],
}

test('a summary lists the order, the reasons and the outcome of each attempt; what was not kept is null or empty', () => {
  const { version: _, ...kept } = summary
  expect(evidenceFrom(JSON.stringify(summary))).toEqual({
    ...kept,
    prices: null,
    request: null,
    excluded: [],
    decisions: [],
    counterfactuals: null,
  })
})

test('a value that is not evidence, or was written by another version, is ignored', () => {
  const broken = (changes: object): string => JSON.stringify({ ...summary, ...changes })
  const [attempt] = summary.attempts
  expect(evidenceFrom(broken({}))).toBeDefined()
  for (const text of [
    undefined,
    '',
    '{',
    '{}',
    'null',
    '[]',
    '7',
    '"text"',
    '{"trace":"U0JUAQ","excluded":[]}',
    '{"summary":{"version":1,"order":[7],"offers":[],"attempts":[]},"excluded":{}}',
    broken({ version: 1 }),
    broken({ version: undefined }),
    broken({ detail: 'whole' }),
    broken({ order: 'b' }),
    broken({ order: [7] }),
    broken({ attempts: {} }),
    broken({ attempts: [null] }),
    broken({ attempts: [{ ...attempt, offer: undefined }] }),
    broken({ decisions: [{ chosen: 'a' }] }),
    broken({ excluded: [{ code: 'x' }] }),
    broken({ excluded_counts: null }),
    broken({ counterfactuals: {} }),
    broken({ seed: null }),
    broken({}).slice(0, 200),
    '['.repeat(100_000),
  ])
    expect(evidenceFrom(text)).toBeUndefined()
})

const manyOffers = Array.from({ length: 2_000 }, (_, at) => ({
  id: `provider-${at}/${'m'.repeat(60)}@platform`,
  provider: `provider-${at}`,
  model: 'm'.repeat(60),
  price: { input: 1_000_000 + at, output: 3_000_000 },
}))

/** The trace of a request with many candidates and many attempts that failed. */
function troubled(offers: readonly RouterOffer[], attempts: number): Trace {
  const router = createRouter({ offers, decisionLog: {}, clock: { now: () => 0 } })
  const plan = router.plan({ inputTokens: 1_000, maxAttempts: attempts })
  for (let choice = plan.next(); choice; choice = plan.next()) router.failAttempt(router.startAttempt(choice), { kind: 'error' })
  return router.trace()
}

const excludedOften = Array.from({ length: 2_000 }, (_, at) => ({
  model: 'm'.repeat(60),
  provider: `p${at}`,
  provider_model_id: 'm'.repeat(60),
  code: 'capability_mismatch',
  reason: 'because '.repeat(500),
}))

test('the size of a row is bounded, whatever the number of candidates, attempts and exclusions, and the row stays readable', () => {
  for (const attempts of [1, 2, 40]) {
    const text = evidenceText({ trace: troubled(manyOffers, attempts), excluded: excludedOften, strategy: 'order' }, true) ?? ''
    expect(text.length).toBeLessThanOrEqual(decisionLogLimits.rowText)
    expect(evidenceFrom(text)).toMatchObject({ detail: 'full', strategy: 'order', excluded_counts: { capability_mismatch: 2_000 } })
    expect(evidenceFrom(text)?.attempts).toHaveLength(Math.min(attempts, decisionLogLimits.rowAttempts))
  }
})

test('evidence over the size limit is kept as a summary, and dropped if that is too large as well', () => {
  const named = (length: number) => troubled([{ id: 'a'.repeat(length), price: { input: 1, output: 1 } }], 1)
  const detailOf = (length: number) => evidenceFrom(evidenceText({ trace: named(length), excluded: [], strategy: 'order' }, true))?.detail
  expect([10, 3_000, 30_000].map(detailOf)).toEqual(['full', 'summary', undefined])
})

test('a share of ordinary requests is kept, the same in every process, and all unusual ones', () => {
  const usual = { attempts: 1, result: 'ok' } as const
  const kept = Array.from({ length: 2_000 }, (_, at) => keepsFullEvidence({ requestId: `request-${at}`, share: 0.1, ...usual }))
  expect(kept.filter(Boolean).length / kept.length).toBeCloseTo(0.1, 1)
  expect(keepsFullEvidence({ requestId: 'r', share: 0.001, ...usual, attempts: 2 })).toBe(true)
  expect(keepsFullEvidence({ requestId: 'r', share: 0.001, ...usual, result: 'error' })).toBe(true)
  expect(keepsFullEvidence({ requestId: 'r', share: 0, ...usual, result: 'error' })).toBe(false)
})

test('rows older than the retention of their workspace are deleted, after its requests and at most once an hour', async () => {
  const forgotten: unknown[] = []
  const settings = { logRetentionDays: 30 }
  const { ask, engine, clock } = createFixture({ workspace: { billing: 'postpaid', settings }, acts: { first: answer } })
  const { storage, logger } = engine
  const usage = {
    ...storage.usage,
    forget: async (input: object) => {
      forgotten.push(input)
      return forgotten.length === 1 ? 1_000 : 0
    },
  }
  const retention = createRetention({ storage: { ...storage, usage }, records: recordsOf(storage.records, clock), clock, logger })
  const again = async (): Promise<void> => {
    retention.look(await termsOf(engine))
    await retention.flush()
  }
  await ask()
  await again()
  const first = { workspaceId: 'workspace', before: clock.now() - 30 * dayMs, limit: 1_000 }
  expect(forgotten).toEqual([first])
  await again()
  await again()
  expect(forgotten).toHaveLength(2)
  await clock.advance(3_600_000)
  await again()
  expect(forgotten).toHaveLength(3)
})

test('a clock that is set back by a day delays deletion by no more than an hour', async () => {
  const forgotten: unknown[] = []
  const { engine, clock } = createFixture({ workspace: { billing: 'postpaid', settings: { logRetentionDays: 30 } } })
  const usage = { ...engine.storage.usage, forget: async (input: object) => forgotten.push(input) - forgotten.length }
  const { storage, logger } = engine
  const retention = createRetention({ storage: { ...storage, usage }, records: recordsOf(storage.records, clock), clock, logger })
  retention.look(await termsOf(engine))
  clock.jump(-dayMs)
  await clock.advance(3_600_000)
  retention.look(await termsOf(engine))
  await retention.flush()
  expect(forgotten).toMatchObject([{ workspaceId: 'workspace' }, { before: clock.now() - 30 * dayMs }])
})

test('a clock that is set forward by months deletes no account of the present period, no recent row and no valid record', async () => {
  const { engine, clock } = createFixture()
  const { logger } = engine
  const latest: number[] = []
  const storage = {
    ...engine.storage,
    usage: { ...engine.storage.usage, forget: async ({ before }: { readonly before: number }) => latest.push(before) * 0 },
    records: { ...engine.storage.records, expire: async (at: number) => latest.push(at) * 0 },
  }
  const retention = createRetention({ storage, records: recordsOf(storage.records, clock), clock, logger })
  const month = (at: number): string => `budget:app:user:u:month:${new Date(at).toISOString().slice(0, 7)}-01`
  const accounts = [month(clock.now()), month(clock.now() - 60 * dayMs)]
  await storage.ledger.settle({ id: 'r', amounts: Object.fromEntries(accounts.map(account => [account, 5])), at: clock.now() })
  retention.look(await termsOf(engine))
  await retention.flush()
  clock.jump(90 * dayMs)
  await clock.advance(3_600_000)
  retention.look(await termsOf(engine))
  await retention.flush()
  expect(await storage.ledger.accounts({ prefix: 'budget:', limit: 9 })).toEqual([accounts[0]])
  expect(Math.max(...latest)).toBe(clock.now() - 90 * dayMs)
})

test('a store whose deletion fails is called again in an hour, and the failure is logged', async () => {
  const warned: unknown[] = []
  const { engine, clock } = createFixture()
  const down = (): Promise<never> => Promise.reject(new Error('The disk is gone.'))
  const storage = {
    usage: { ...engine.storage.usage, forget: down },
    records: { ...engine.storage.records, expire: down },
    ledger: engine.storage.ledger,
  }
  const retention = createRetention({
    storage,
    records: recordsOf(storage.records, clock),
    clock,
    logger: { ...engine.logger, warn: facts => void warned.push(facts) },
  })
  retention.look(await termsOf(engine))
  await retention.flush()
  retention.look(await termsOf(engine))
  await retention.flush()
  expect(warned).toHaveLength(2)
})

test('old rows of an inactive workspace are deleted too, after the requests of others', async () => {
  const forgotten: string[] = []
  const { engine, clock } = createFixture()
  const { storage, logger } = engine
  const body = JSON.stringify({ name: 'Idle', billing: 'prepaid', settings: { logRetentionDays: 7 } })
  await storage.records.commit({ puts: [{ kind: 'workspace', workspaceId: 'idle', id: 'idle', version: 0, createdAt: 0, body }] })
  const usage = {
    ...storage.usage,
    forget: async ({ workspaceId, before }: { readonly workspaceId: string; readonly before: number }) => {
      forgotten.push(`${workspaceId} ${(clock.now() - before) / dayMs}`)
      return 0
    },
  }
  const retention = createRetention({ storage: { ...storage, usage }, records: recordsOf(storage.records, clock), clock, logger })
  retention.look(await termsOf(engine))
  await retention.flush()
  expect(forgotten).toEqual(['workspace 365', 'idle 7'])
})

async function termsOf({ policies }: ReturnType<typeof createFixture>['engine']) {
  const found = await policies.of('workspace')
  if (!found) throw new Error('The fixture has a workspace.')
  return found
}
