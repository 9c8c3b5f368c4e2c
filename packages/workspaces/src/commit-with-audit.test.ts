import { webClock } from '@signalbox/core/runtime'
import { createGateway } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { codeOf, createFixture } from '../test/fixture.ts'

// Two processes share one store: what one has read may be outdated by the time it writes.

test('two owners who leave at the same time through two processes leave one behind', async () => {
  const storage = memoryStorage()
  const gate = Promise.withResolvers<void>()
  const hasRead = Promise.withResolvers<void>()
  let holds = false
  const slow: typeof storage = {
    ...storage,
    records: {
      ...storage.records,
      async list(query) {
        const found = await storage.records.list(query)
        if (!holds || query.kind !== 'member') return found
        holds = false
        hasRead.resolve()
        await gate.promise
        return found
      },
    },
  }
  const here = (await createFixture({ storage })).gateway.workspaces('w')
  const there = (await createFixture({ storage: slow })).gateway.workspaces('w')
  const ada = await here.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' })
  const ben = await here.members.add({ email: 'ben@example.com', name: 'Ben', role: 'owner' })
  holds = true
  const leaving = codeOf(there.members.remove(ben.id).then(String))
  await hasRead.promise
  await here.members.remove(ada.id)
  gate.resolve()
  expect(await leaving).toBe('state_precondition_failed')
  expect((await here.members.list()).map(({ name }) => name)).toEqual(['Ben'])
})

test('a change by another process between the two reads of a commit is no modified audit chain', async () => {
  const storage = memoryStorage()
  const between: (() => Promise<unknown>)[] = []
  const late: typeof storage = {
    ...storage,
    audit: {
      ...storage.audit,
      async last(workspaceId) {
        await between.pop()?.()
        return storage.audit.last(workspaceId)
      },
    },
  }
  const here = (await createFixture({ storage })).gateway.workspaces('w')
  const errors: string[] = []
  const logger = { info: () => {}, warn: () => {}, error: (_: unknown, text: string) => void errors.push(text) }
  const there = (await createFixture({ storage: late, logger })).gateway.workspaces('w')
  between.push(() => here.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' }))
  await there.members.add({ email: 'ben@example.com', name: 'Ben', role: 'owner' })
  expect(errors).toEqual([])
  expect((await there.auditEvents.verify()).valid).toBe(true)
})

test('a key with a chosen secret is created once, even if two processes start with it at the same time', async () => {
  const storage = memoryStorage()
  const between: (() => Promise<unknown>)[] = []
  const late: typeof storage = {
    ...storage,
    records: {
      ...storage.records,
      async commit(change) {
        await between.pop()?.()
        return storage.records.commit(change)
      },
    },
  }
  const here = (await createFixture({ storage })).gateway.workspaces('w')
  const there = (await createFixture({ storage: late })).gateway.workspaces('w')
  const secret = 'ak_chosen-by-the-operator'
  between.push(() => here.apiKeys.create({ name: 'admin', secret }))
  const second = await there.apiKeys.create({ name: 'admin', secret })
  expect((await here.apiKeys.list()).map(({ id }) => id)).toEqual([second.id])
})

test('a change of `setup` is given up after many attempts, even if the clock stands still', async () => {
  const storage = memoryStorage()
  let attempts = 0
  const commit = () => {
    attempts += 1
    return { on: 'audit', workspaceId: 'w' } as const
  }
  const web = webClock()
  const gateway = createGateway({
    providers: [],
    models: [],
    storage: { ...storage, records: { ...storage.records, commit } },
    // The waits between attempts take no time here; that for `setup` does.
    clock: { ...web, now: () => 0, monotonic: () => 0, setTimeout: (run, ms) => web.setTimeout(run, ms > 100 ? ms : 0) },
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    setup: ({ workspaces }) => workspaces.create({ id: 'w', name: 'W' }),
  })
  expect((await gateway.health()).problems).toEqual(['`setup` failed; see the log.'])
  const made = attempts
  await new Promise(resolve => setTimeout(resolve, 50))
  expect([made, attempts]).toEqual([400, 400])
})
