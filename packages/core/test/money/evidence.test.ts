import { expect, test } from 'vitest'
import { acts } from '../../../testing/src/scripted-provider.ts'
import { recordsOf } from '../../src/access/records.ts'
import { createBrain } from '../../src/brain/brain.ts'
import { evidenceFrom, keepsEvidence } from '../../src/request/settlement/evidence.ts'
import { keepRetention } from '../../src/request/settlement/retention.ts'
import { keepContenders } from '../../src/routing/contenders.ts'
import { answer, type Staged, stage } from './stage.ts'

const dayMs = 86_400_000

function recorded(staged: Staged = {}) {
  const { clock } = stage()
  const brain = createBrain({ monotonic: clock.monotonic, preference: 'balanced', seed: 1, record: {} })
  const parts = { brain, contenders: keepContenders(brain), storedShare: 1, ...staged.engine }
  return stage({ workspace: { billing: 'postpaid' }, ...staged, engine: parts })
}

test('a usage row tells in any process why its request went where it did', async () => {
  const gone = acts.status(404)
  const { ask, engine } = recorded({ acts: { first: gone }, workspace: { billing: 'postpaid' } })
  await ask({}, 'r')
  const row = await engine.storage.usage.find('workspace', 'r')
  expect(evidenceFrom(row?.routing)).toMatchObject({
    strategy: 'balanced',
    order: ['first/m@platform', 'second/m@platform'],
    attempts: [{ provider: 'first' }, { provider: 'second', outcome: 'ok' }],
    excluded: [],
  })
})

test('a row holds little, also of a request that was left out for many reasons and tried often', async () => {
  const settings = { blockedProviders: ['second'] }
  const { ask, engine } = recorded({ workspace: { billing: 'postpaid', settings }, acts: { first: acts.status(404) } })
  await ask({}, 'r').catch(() => {})
  const row = await engine.storage.usage.find('workspace', 'r')
  expect(evidenceFrom(row?.routing)?.excluded).toMatchObject([
    { provider: 'second', reason: "the workspace's settings do not allow the provider" },
  ])
  expect(row?.routing?.length).toBeLessThan(2_000)
})

test('a summary tells the order, the reasons and what became of each attempt, also of one that never ended', () => {
  const text = JSON.stringify({
    summary: {
      version: 1,
      seed: 3,
      strategy: 2,
      offers: [
        ['a', 'p', null],
        ['b', null, 'm'],
      ],
      order: [1, 0],
      attempts: [
        [1, 1, 3, 5, -1, 2_500],
        [0, 2, 0, 2_505, -1, 0],
      ],
    },
    excluded: { deprecated: 2 },
  })
  expect(evidenceFrom(text)).toEqual({
    detail: 'summary',
    seed: 3,
    strategy: 'latency',
    weighed_by: 'latency',
    worth: null,
    request: null,
    order: ['b', 'a'],
    excluded: [],
    excluded_counts: { deprecated: 2 },
    decisions: [],
    attempts: [
      {
        offer: 'b',
        provider: null,
        model: 'm',
        why: 'probe',
        outcome: 'timeout',
        sent_after_ms: 5,
        first_content_ms: null,
        total_ms: 2_500,
        output_tokens: null,
        cached_tokens: null,
      },
      {
        offer: 'a',
        provider: 'p',
        model: null,
        why: 'fallback',
        outcome: null,
        sent_after_ms: null,
        first_content_ms: null,
        total_ms: null,
        output_tokens: null,
        cached_tokens: null,
      },
    ],
    counterfactuals: null,
  })
})

test('what is no evidence tells nothing', () => {
  for (const text of [
    undefined,
    '',
    '{',
    '{}',
    '{"summary":{"version":2}}',
    '{"summary":{"version":1,"order":[7],"offers":[],"attempts":[]}}',
    '{"trace":"x","excluded":[]}',
  ])
    expect(evidenceFrom(text)).toBeUndefined()
})

test('of requests that went as most do a share is kept, the same in every process, and all the others', () => {
  const usual = { attempts: 1, result: 'ok' } as const
  const kept = Array.from({ length: 2_000 }, (_, at) => keepsEvidence({ requestId: `request-${at}`, share: 0.1, ...usual }))
  expect(kept.filter(Boolean).length / kept.length).toBeCloseTo(0.1, 1)
  expect(keepsEvidence({ requestId: 'r', share: 0.001, ...usual, attempts: 2 })).toBe(true)
  expect(keepsEvidence({ requestId: 'r', share: 0.001, ...usual, result: 'error' })).toBe(true)
  expect(keepsEvidence({ requestId: 'r', share: 0, ...usual, result: 'error' })).toBe(false)
})

test('rows older than their workspace keeps them go, behind its requests and at most once an hour', async () => {
  const forgotten: unknown[] = []
  const settings = { logRetentionDays: 30 }
  const { ask, engine, clock } = stage({ workspace: { billing: 'postpaid', settings }, acts: { first: answer } })
  const { storage, logger } = engine
  const usage = {
    ...storage.usage,
    forget: async (input: object) => {
      forgotten.push(input)
      return forgotten.length === 1 ? 1_000 : 0
    },
  }
  const retention = keepRetention({ storage: { ...storage, usage }, records: recordsOf(storage.records), clock, logger })
  const again = async (): Promise<void> => {
    retention.look(await termsOf(engine))
    await retention.flush()
  }
  await ask()
  await again()
  const first = { workspaceId: 'workspace', before: clock.now() - 30 * dayMs, most: 1_000 }
  expect(forgotten).toEqual([first])
  await again()
  await again()
  expect(forgotten).toHaveLength(2)
  await clock.advance(3_600_000)
  await again()
  expect(forgotten).toHaveLength(3)
})

test('a clock that is set back by a day puts nothing off: what is too old is looked for an hour later', async () => {
  const forgotten: unknown[] = []
  const { engine, clock } = stage({ workspace: { billing: 'postpaid', settings: { logRetentionDays: 30 } } })
  const usage = { ...engine.storage.usage, forget: async (input: object) => forgotten.push(input) - forgotten.length }
  const { storage, logger } = engine
  const retention = keepRetention({ storage: { ...storage, usage }, records: recordsOf(storage.records), clock, logger })
  retention.look(await termsOf(engine))
  clock.jump(-dayMs)
  await clock.advance(3_600_000)
  retention.look(await termsOf(engine))
  await retention.flush()
  expect(forgotten).toMatchObject([{ workspaceId: 'workspace' }, { before: clock.now() - 30 * dayMs }])
})

test('a store that cannot forget now is asked again in an hour, and its trouble is logged', async () => {
  const warned: unknown[] = []
  const { engine, clock } = stage()
  const down = (): Promise<never> => Promise.reject(new Error('The disk is gone.'))
  const storage = { usage: { ...engine.storage.usage, forget: down }, records: { ...engine.storage.records, expire: down } }
  const retention = keepRetention({
    storage,
    records: recordsOf(storage.records),
    clock,
    logger: { ...engine.logger, warn: facts => void warned.push(facts) },
  })
  retention.look(await termsOf(engine))
  await retention.flush()
  retention.look(await termsOf(engine))
  await retention.flush()
  expect(warned).toHaveLength(2)
})

test('a workspace that makes no calls any more is looked at too, behind the calls of others', async () => {
  const forgotten: string[] = []
  const { engine, clock } = stage()
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
  const retention = keepRetention({ storage: { ...storage, usage }, records: recordsOf(storage.records), clock, logger })
  retention.look(await termsOf(engine))
  await retention.flush()
  expect(forgotten).toEqual(['workspace 365', 'idle 7'])
})

async function termsOf({ terms }: ReturnType<typeof stage>['engine']) {
  const found = await terms.of('workspace')
  if (!found) throw new Error('The stage has a workspace.')
  return found
}
