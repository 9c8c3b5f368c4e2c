import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { codeOf, createFixture } from '../test/fixture.ts'

const actor = { key: { id: 'key_1', name: 'admin', scopes: new Set(['keys:write']) }, requestId: 'req_1', ip: '10.0.0.1' }

test('every change is recorded with its actor, origin and content', async () => {
  const { gateway, now } = await createFixture()
  const w = gateway.workspaces('w', actor)
  await w.settings.update({ logRetentionDays: 30 })
  const [event] = await w.auditEvents.list({ limit: 1 })
  expect(event).toMatchObject({
    event: 'settings.updated',
    actorKeyId: 'key_1',
    actorName: 'admin',
    subjectType: 'settings',
    subjectId: 'w',
    at: now.ms,
    requestId: 'req_1',
    ip: '10.0.0.1',
  })
  expect(JSON.parse(event?.changes ?? '')).toEqual({ log_retention_days: 30 })
})

test('refused changes leave no row', async () => {
  const { gateway } = await createFixture()
  const before = await gateway.workspaces('w').auditEvents.list()
  expect(await codeOf(gateway.workspaces('w', actor).settings.update({ logRetentionDays: 0 }))).toBe('invalid_parameter_value')
  expect(await codeOf(gateway.workspaces('w', actor).members.remove('nobody'))).toBe('resource_not_found')
  expect(await gateway.workspaces('w').auditEvents.list()).toEqual(before)
})

test('the chain has no gap when two processes write many rows at once', async () => {
  const here = await createFixture()
  const there = await createFixture(here)
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      (n % 2 === 0 ? here : there).gateway.workspaces('w').members.add({ email: `m${n}@example.com`, name: 'M', role: 'viewer' }),
    ),
  )
  const { auditEvents, members } = here.gateway.workspaces('w')
  expect(await members.list()).toHaveLength(40)
  expect(await auditEvents.verify()).toEqual({ valid: true, checked: 41, anchored: true, anchoredFrom: 1 })
})

test('a changed row and a removed row are detected', async () => {
  const storage = memoryStorage()
  const { gateway } = await createFixture({ storage })
  for (const days of [10, 20, 30]) await gateway.workspaces('w').settings.update({ logRetentionDays: days })
  const rows = [...(await storage.audit.chain('w', { after: 0, limit: 10 }))]
  const verified = async (chain: typeof rows) => {
    const forged = { ...storage, audit: { ...storage.audit, forgets: false, chain: async () => chain } }
    return (await createFixture({ storage: forged })).gateway.workspaces('w').auditEvents.verify()
  }
  expect(await verified(rows)).toEqual({ valid: true, checked: 4, anchored: true, anchoredFrom: 1 })
  for (const field of ['event', 'changes', 'at', 'actorKeyId', 'subjectId', 'hash'] as const) {
    const at = 2
    const forged = rows.map((row, index) => (index === at ? { ...row, [field]: field === 'at' ? row.at + 1 : 'forged' } : row))
    expect(await verified(forged), field).toMatchObject({
      valid: false,
      checked: at + 1,
      reason: 'row_changed',
      firstBrokenId: rows[at]?.id,
    })
  }
  expect(await verified(rows.filter((_, index) => index !== 1))).toMatchObject({ valid: false, firstBrokenId: rows[2]?.id })
  expect(await verified(rows.slice(1))).toMatchObject({ valid: false, firstBrokenId: rows[1]?.id })
})

test('events are filtered by name, actor and time, newest first', async () => {
  const { gateway, now } = await createFixture()
  await gateway.workspaces('w', actor).settings.update({ logRetentionDays: 30 })
  now.ms += 1_000
  await gateway.workspaces('w').settings.update({ logRetentionDays: 40 })
  const { auditEvents } = gateway.workspaces('w')
  const found = async (query: Parameters<typeof auditEvents.list>[0]) =>
    (await auditEvents.list(query)).map(({ changes }) => JSON.parse(changes))
  expect(await found({ event: 'settings.updated' })).toEqual([{ log_retention_days: 40 }, { log_retention_days: 30 }])
  expect(await found({ actorKeyId: 'key_1' })).toEqual([{ log_retention_days: 30 }])
  expect(await found({ from: now.ms })).toEqual([{ log_retention_days: 40 }])
  expect(await found({ to: now.ms, event: 'settings.updated' })).toEqual([{ log_retention_days: 30 }])
})

test('a workspace reads one page of its chain at a time, however many verify it', async () => {
  const storage = memoryStorage()
  const { gateway } = await createFixture({ storage })
  for (let days = 1; days <= 600; days++) await gateway.workspaces('w').settings.update({ logRetentionDays: 30 + (days % 2) })
  let reading = 0
  let most = 0
  let pages = 0
  const chain: typeof storage.audit.chain = async (...query) => {
    pages += 1
    reading += 1
    most = Math.max(most, reading)
    await new Promise(resolve => setImmediate(resolve))
    reading -= 1
    return storage.audit.chain(...query)
  }
  const watched = await createFixture({ storage: { ...storage, audit: { ...storage.audit, chain } } })
  const { auditEvents } = watched.gateway.workspaces('w')
  const verified = await Promise.all(Array.from({ length: 5 }, () => auditEvents.verify()))
  expect(verified.map(({ valid, checked }) => [valid, checked])).toEqual(Array(5).fill([true, 601]))
  expect([pages, most]).toEqual([10, 1])
})
