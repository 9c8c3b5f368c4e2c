import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { responsesClient } from '@signalbox/dialects'
import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { decodeTrace, encodeTrace, replay } from '@signalbox/router/decision-log'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { chaosProvider, type TestGatewayOptions, testGateway } from '../src/index.ts'

// How requests were routed, as reported afterwards.

async function served(options: TestGatewayOptions = {}) {
  const [broken, well] = await Promise.all([chaosProvider(), chaosProvider()])
  const site = await testGateway({ servers: [broken, well], seed: 7, ...options })
  onTestFinished(async () => {
    await Promise.all([site.close(), broken.close(), well.close()])
  })
  const ask = (requestId: string, more: object = {}) => {
    const request = responsesClient.decodeRequest({ model: 'fault:status-503', input: 'Hello', ...more })
    return site.gateway.infer(request, { caller: site.caller, requestId }).whole()
  }
  return { ...site, ask }
}

test('a decision has the candidates with their scores, those left out, and the outcome of each attempt', async () => {
  const { gateway, ask } = await served()
  await ask('0190b7a0-0000-7000-8000-000000000001', { gateway: { routing: { strategy: 'balanced', ignore: [] } } })
  const evidence = gateway.decisionLog.of('0190b7a0-0000-7000-8000-000000000001')
  expect(evidence).toMatchObject({ seed: 7, strategy: 'balanced', excluded: [] })
  expect(evidence?.attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
    ['server-1', 'error'],
    ['server-2', 'ok'],
  ])
  expect(evidence?.decisions.map(({ reason, candidates }) => [reason, candidates.length])).toEqual([
    ['best', 2],
    ['fallback', 1],
  ])
  expect(evidence?.counterfactuals?.cheapest).toBeDefined()
})

test('a request with its own provider order is recorded with strategy `order` and the weights used for evidence', async () => {
  const { gateway, ask } = await served()
  await ask('0190b7a0-0000-7000-8000-000000000009')
  expect(gateway.decisionLog.of('0190b7a0-0000-7000-8000-000000000009')).toMatchObject({ strategy: 'order', weighed_by: 'balanced' })
})

test('candidates that were left out are listed with the reason', async () => {
  const { gateway, ask } = await served()
  await ask('0190b7a0-0000-7000-8000-000000000002', { gateway: { routing: { ignore: ['server-1'] } } })
  expect(gateway.decisionLog.of('0190b7a0-0000-7000-8000-000000000002')?.excluded).toMatchObject([
    { provider: 'server-1', code: 'routing_constraint_unsatisfiable', param: 'gateway.routing.ignore' },
  ])
})

test('a trace survives JSON and replays to the same decision', async () => {
  const { gateway, ask } = await served({ strategy: 'balanced' })
  for (const at of [1, 2, 3]) await ask(`0190b7a0-0000-7000-8000-00000000000${at}`)
  const { decisions } = replay(decodeTrace(encodeTrace(gateway.decisionLog.trace())))
  expect(decisions.length).toBeGreaterThanOrEqual(3)
  expect(decisions.every(({ same }) => same)).toBe(true)
})

test('nothing is recorded if the log is off, and the oldest decision is dropped beyond the limit', async () => {
  const off = await served({ decisionLog: false })
  await off.ask('0190b7a0-0000-7000-8000-000000000001')
  expect(off.gateway.decisionLog.of('0190b7a0-0000-7000-8000-000000000001')).toBeUndefined()
  expect(off.gateway.decisionLog.trace().decisions).toEqual([])
  const two = await served({ decisionLog: { keep: 2 } })
  for (const at of [1, 2, 3]) await two.ask(`0190b7a0-0000-7000-8000-00000000000${at}`)
  expect(two.gateway.decisionLog.of('0190b7a0-0000-7000-8000-000000000001')).toBeUndefined()
  expect(two.gateway.decisionLog.of('0190b7a0-0000-7000-8000-000000000003')).toBeDefined()
})

test('another process reads all failed requests, and the order and attempts of every request', async () => {
  const storage = memoryStorage()
  const { gateway, caller, ask } = await served({ storage, decisionLog: { store: 1e-9 } })
  await ask('troubled')
  await ask('usual', { model: 'test-model' })
  const elsewhere = createGateway({ providers: [], models: [], storage })
  const told = (from: typeof gateway, id: string) => from.workspaces(caller.workspaceId).analytics.routing(id)
  const here = await told(gateway, 'troubled')
  expect(here.attempts.map(({ outcome }) => outcome)).toEqual(['error', 'ok'])
  expect(await told(elsewhere, 'troubled')).toEqual(here)
  expect((await told(gateway, 'usual')).attempts).toHaveLength(1)
  const full = await told(gateway, 'usual')
  const brief = await told(elsewhere, 'usual')
  expect([full.detail, here.detail, brief.detail]).toEqual(['full', 'full', 'summary'])
  expect(brief).toMatchObject({
    seed: full.seed,
    strategy: full.strategy,
    weighed_by: full.weighed_by,
    order: full.order,
    excluded_counts: {},
  })
  expect(brief.attempts).toMatchObject(
    full.attempts.map(({ offer, provider, model, reason, outcome }) => ({ offer, provider, model, reason, outcome })),
  )
  expect(brief.attempts[0]?.total_ms).toBeGreaterThanOrEqual(0)
  await expect(told(gateway, 'never')).rejects.toMatchObject({ code: 'resource_not_found' })
})

test('a decision that was not recorded is distinguished from an unknown request', async () => {
  for (const decisionLog of [false, { store: 0, keep: 0 }, { share: 0 }] as const) {
    const storage = memoryStorage()
    const { gateway, caller, ask } = await served({ storage, decisionLog })
    await ask('usual', { model: 'test-model' })
    const { analytics } = gateway.workspaces(caller.workspaceId)
    expect((await analytics.request('usual')).routing).toBeUndefined()
    await expect(analytics.routing('usual')).rejects.toMatchObject({ code: 'routing_evidence_not_kept' })
    await expect(analytics.routing('never')).rejects.toMatchObject({ code: 'resource_not_found' })
  }
})

test('over HTTP, a request without evidence, one with it and an unknown one have different responses', async () => {
  const evidenceOver = async (decisionLog: NonNullable<TestGatewayOptions['decisionLog']>) => {
    const { gateway, caller, secret } = await served({ decisionLog })
    const { url, close } = await serve(gateway, { port: 0 })
    onTestFinished(() => close())
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'test-model', input: 'Hello' })
    const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    const path = `${url}/v1/workspaces/${caller.workspaceId}/analytics/requests`
    const logged = await fetch(`${path}/${answer.headers.get('x-request-id')}`, { headers })
    expect(logged.status).toBe(200)
    const told = async (id: string | null) => {
      const reply = await fetch(`${path}/${id}/routing`, { headers })
      return { status: reply.status, body: await reply.json() }
    }
    return { its: await told(answer.headers.get('x-request-id')), none: await told('never') }
  }
  for (const decisionLog of [false, { store: 0, keep: 0 }] as const) {
    const { its, none } = await evidenceOver(decisionLog)
    expect(its).toMatchObject({
      status: 404,
      body: { error: { code: 'routing_evidence_not_kept', message: expect.stringContaining('decisionLog.store') } },
    })
    expect(none).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } })
  }
  const { its, none } = await evidenceOver({ store: 1 })
  expect(its).toMatchObject({ status: 200, body: { detail: 'full', attempts: [{ outcome: 'ok' }] } })
  expect(none).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } })
})

test('evidence of every request is there after a restart, from the file alone', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'evidence-')), 'gateway.db')
  const storage = sqliteStorage(file)
  const { gateway, caller, ask } = await served({ storage })
  const ids = Array.from({ length: 20 }, (_, at) => `request-${at}`)
  for (const id of ids) await ask(id, { model: 'test-model', gateway: { routing: { ignore: ['server-1'] } } })
  await gateway.close()
  const reopened = sqliteStorage(file)
  const later = createGateway({ providers: [], models: [], storage: reopened })
  const { analytics } = later.workspaces(caller.workspaceId)
  for (const id of ids) {
    const evidence = await analytics.routing(id)
    expect(evidence).toMatchObject({
      excluded_counts: { routing_constraint_unsatisfiable: 1 },
      attempts: [{ provider: 'server-2', outcome: 'ok' }],
    })
    expect(evidence.order).toEqual([evidence.attempts[0]?.offer])
    expect(((await analytics.request(id)).routing ?? '').length).toBeLessThan(evidence.detail === 'full' ? 2_500 : 420)
  }
  await later.close()
})

test('creating a gateway uses no randomness: some runtimes have none before the first request', () => {
  const none = (): never => {
    throw new Error('There is no chance here yet.')
  }
  expect(() =>
    createGateway({ providers: [], models: [], storage: memoryStorage(), ids: { uuid: none, hex: none, random: none } }),
  ).not.toThrow()
})
