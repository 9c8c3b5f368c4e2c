import type { SpoolStore, Storage, UsageRow } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { type FakeClock, fakeClock } from '@signalbox/testing'
import { expect, test, vi } from 'vitest'
import { formatSettlement, SettlementQueue, settlementLimits } from './settlement-queue.ts'

const row = (id: string): UsageRow => ({
  ...{ id, workspaceId: 'w', keyId: 'k', at: 1_000, modelAsked: 'm', model: 'm', provider: 'p', credential: 'platform', strategy: 's' },
  ...{ streamed: true, inputTokens: 1, outputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, estimated: false },
  ...{ cost: 5, byokCost: 0, result: 'ok', attempts: 1, durationMs: 10, warnings: [] },
})
const settling = (id: string) => ({ row: row(id), amounts: { 'credit:w': 5 }, slotKeys: ['slots:k'] })

/** A store that accepts no settlements: `down` fails at once, `stuck` waits until it is over. */
function scene({
  spool,
  clock = fakeClock(),
  leave,
  outage,
}: {
  readonly spool?: SpoolStore
  readonly clock?: FakeClock
  readonly leave?: Storage['counters']['leave']
  readonly outage?: Storage['outage']
} = {}) {
  const kept = memoryStorage()
  const state = { mode: 'up' as 'up' | 'down' | 'stuck' | 'wrong', writes: 0, log: [] as string[] }
  const waiting: (() => void)[] = []
  const settle: Storage['settle'] = async settlement => {
    state.writes += 1
    if (state.mode === 'down') throw new Error('SQLITE_BUSY: database is locked')
    if (state.mode === 'wrong') throw new RangeError('settle: no')
    if (state.mode === 'stuck') await new Promise<void>(resolve => waiting.push(resolve))
    await kept.settle(settlement)
  }
  const storage: Storage = { ...kept, settle, ...(spool && { spool }), ...(leave && { counters: { ...kept.counters, leave } }), outage }
  const note = (_: unknown, message: string): void => void state.log.push(message)
  const settlements = new SettlementQueue({ storage, clock, logger: { info: note, warn: note, error: note } })
  const rows = async () => (await kept.usage.list({ workspaceId: 'w', from: 0, to: 1e15, limit: 10_000 })).map(({ id }) => id).sort()
  const release = (): void => {
    state.mode = 'up'
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { settlements, state, clock, rows, release, storage, spent: async () => (await kept.ledger.balance('credit:w')).spent }
}

function memorySpool() {
  const left: string[] = []
  const own: string[] = []
  const state = { fails: false, appends: 0 }
  const spool: SpoolStore = {
    async append(lines) {
      state.appends += 1
      if (state.fails) throw new Error('ENOSPC')
      own.push(...lines)
    },
    async clear() {
      own.length = 0
    },
    async adopt() {
      own.push(...left)
      return left.splice(0)
    },
  }
  return { spool, own, left, state }
}

test('a settlement that could not be written for a minute is written once, within 10 s of the recovery', async () => {
  const { settlements, state, clock, rows, spent } = scene()
  state.mode = 'down'
  await Promise.all(Array.from({ length: 300 }, (_, n) => settlements.settle(settling(`r${n}`))))
  await clock.advance(60_000)
  expect(await rows()).toEqual([])
  expect(settlements.has('r7')).toBe(true)
  state.mode = 'up'
  await clock.advance(10_000)
  expect(await rows()).toHaveLength(300)
  expect(await spent()).toBe(1_500)
  expect(settlements.has('r7')).toBe(false)
  expect(clock.pending()).toBe(0)
})

test('an outage is logged once, and one after it again', async () => {
  const { settlements, state, clock } = scene()
  const queued = () => state.log.filter(message => message.includes('it is queued'))
  for (const outage of [1, 2]) {
    state.mode = 'down'
    for (const id of ['a', 'b', 'c']) await settlements.settle(settling(`${outage}-${id}`))
    expect(queued()).toHaveLength(outage)
    state.mode = 'up'
    await clock.advance(10_000)
  }
})

test('the first settlement that fails is tried again after the first wait, and not before', async () => {
  const { settlements, state, clock } = scene()
  state.mode = 'down'
  void settlements.settle(settling('r'))
  await clock.advance(0)
  const [wait = 0] = settlementLimits.retryMs
  await clock.advance(wait - 1)
  expect(state.writes).toBe(1)
  await clock.advance(1)
  expect(state.writes).toBe(2)
})

test('a store that is down is called again every few seconds, with a part of the queue', async () => {
  const { settlements, state, clock } = scene()
  state.mode = 'down'
  for (let n = 0; n < 900; n++) void settlements.settle(settling(`r${n}`))
  await clock.advance(0)
  const before = state.writes
  await clock.advance(60_000)
  expect((state.writes - before) / settlementLimits.maxAtOnce).toBeLessThan(30)
})

test('a settlement that the store rejects as invalid is not retried, and is logged', async () => {
  const { settlements, state, clock, rows } = scene()
  state.mode = 'wrong'
  await settlements.settle(settling('r'))
  expect(state.log.join()).toContain('rejected')
  state.mode = 'up'
  await clock.advance(60_000)
  expect([await rows(), state.writes, clock.pending()]).toEqual([[], 1, 0])
})

const { maxWaiting, maxWaitingBytes, longWaiting, longWaitingBytes, longOutageWaiting, longOutageWaitingBytes } = settlementLimits

/** A settlement whose text has the given number of bytes. */
function sized(id: string, bytes: number) {
  const padded = (pad: string) => ({ ...settling(id), row: { ...row(id), metadata: { pad } } })
  return padded('x'.repeat(bytes - formatSettlement(padded('')).length))
}

/** Queues many settlements; one text for all, of which only the length is counted. */
async function fill({ settlements }: ReturnType<typeof scene>, count: number, bytes: number): Promise<void> {
  const each = sized('0000000', bytes)
  for (let n = 0; n < count; n++) await settlements.settle({ ...each, row: { ...each.row, id: `${n}`.padStart(7, '0') } })
}

const outages = {
  'fails in an outage': { outage: undefined, count: longWaiting, bytes: longWaitingBytes },
  'has no time left in an outage': { outage: () => ({ lastedMs: 1, leftMs: 0 }), count: longWaiting, bytes: longWaitingBytes },
  'continues in an outage': { outage: () => ({ lastedMs: 1, leftMs: 1 }), count: longOutageWaiting, bytes: longOutageWaitingBytes },
}

test.each(Object.entries(outages))(
  'with a storage that %s, too many settlements refuse new work until they are written',
  async (_, facts) => {
    const { outage, count } = facts
    const here = scene({ outage })
    here.state.mode = 'down'
    await fill(here, count - 1, 500)
    expect(here.settlements.isLong()).toBe(false)
    await here.settlements.settle(settling('last'))
    expect(here.settlements.isLong()).toBe(true)
    here.state.mode = 'up'
    await here.clock.advance(10_000)
    expect(here.settlements.isLong()).toBe(false)
  },
)

test.each(Object.entries(outages).filter((_, index) => index !== 1))(
  'with a storage that %s, so do too many bytes',
  async (_, { outage, bytes }) => {
    const here = scene({ outage })
    here.state.mode = 'down'
    await fill(here, 63, bytes / 64)
    await here.settlements.settle(sized('first', bytes / 64 - 1_000))
    expect(here.settlements.isLong()).toBe(false)
    await here.settlements.settle(sized('last', 1_000))
    // The second time it takes no room.
    await here.settlements.settle(sized('last', 1_000))
    expect(here.settlements.isLong()).toBe(true)
    here.state.mode = 'up'
    await here.clock.advance(10_000)
    expect(here.settlements.isLong()).toBe(false)
  },
)

test.each([
  ['settlements', maxWaiting, 500],
  ['bytes', 128, maxWaitingBytes / 128],
])('a queue that has its maximum of %s keeps no more in memory, until one is written', async (_, count, bytes) => {
  const here = scene()
  const { settlements, state, clock } = here
  const full = () => state.log.filter(message => message.includes('queue is full')).length
  state.mode = 'down'
  await fill(here, count, bytes)
  expect(full()).toBe(0)
  await settlements.settle(settling('more'))
  expect([full(), settlements.has('more')]).toEqual([1, false])
  state.mode = 'up'
  await clock.advance(settlementLimits.retryMs.at(-1) ?? 0)
  state.mode = 'down'
  await settlements.settle(settling('more'))
  expect([full(), settlements.has('more')]).toEqual([1, true])
})

test('settlements are retried in order of arrival, and the text of each is made once', async () => {
  const { spool, state: spooled } = memorySpool()
  const { settlements, state, clock, storage } = scene({ spool })
  state.mode = 'down'
  spooled.fails = true
  const stringify = vi.spyOn(JSON, 'stringify')
  for (const id of ['c', 'a', 'b']) await settlements.settle(settling(id))
  await clock.advance(20_000)
  expect([stringify.mock.calls.length, spooled.appends > 3]).toEqual([3, true])
  stringify.mockRestore()
  state.mode = 'up'
  await clock.advance(5_000)
  const entries = await storage.ledger.entries('credit:w', { limit: 10 })
  expect(entries.map(({ id }) => id)).toEqual(['b', 'a', 'c'])
})

test('a response waits for a stuck store only until its settlement is in the spool; the spool is emptied after the write', async () => {
  const { spool, own } = memorySpool()
  const { settlements, state, clock, rows, release } = scene({ spool })
  state.mode = 'stuck'
  let isAnswered = false
  void Promise.resolve(settlements.settle(settling('r'))).then(() => {
    isAnswered = true
  })
  await clock.advance(settlementLimits.spoolAfterMs - 1)
  expect([isAnswered, own]).toEqual([false, []])
  await clock.advance(settlementLimits.spoolAfterMs)
  expect(isAnswered).toBe(true)
  expect(own).toEqual([formatSettlement(settling('r'))])
  release()
  await clock.advance(settlementLimits.spoolAfterMs)
  expect([await rows(), own]).toEqual([['r'], []])
})

test('slots are freed while their settlement waits, whether it is slow or fails', async () => {
  const { settlements, state, clock, storage } = scene()
  const enter = (slot: string) => storage.counters.enter({ key: 'slots:k', slot, limit: 1, ttlMs: 90_000 }, 1_000)
  state.mode = 'down'
  await enter('failing')
  await settlements.settle(settling('failing'))
  expect(await enter('slow')).toBe(true)
  state.mode = 'stuck'
  void settlements.settle(settling('slow'))
  expect(await enter('next')).toBe(false)
  await clock.advance(2 * settlementLimits.spoolAfterMs)
  expect(await enter('next')).toBe(true)
})

test('the slots of a settlement that is retried many times are freed once', async () => {
  const left: string[] = []
  const { settlements, state, clock, release } = scene({ leave: key => void left.push(key) })
  state.mode = 'stuck'
  const settled = settlements.settle(settling('slow'))
  await clock.advance(10 * settlementLimits.spoolAfterMs)
  expect(left).toEqual(['slots:k'])
  release()
  await clock.advance(settlementLimits.writeMs)
  await settled
  expect(left).toEqual(['slots:k'])
})

test('quick writes never use the spool', async () => {
  const { spool, state: spooled } = memorySpool()
  const { settlements, clock } = scene({ spool })
  for (let n = 0; n < 100; n++) await settlements.settle(settling(`r${n}`))
  await clock.advance(10_000)
  expect([spooled.appends, clock.pending()]).toEqual([0, 0])
})

test('a spool that cannot be written is logged at the start', async () => {
  const { spool } = memorySpool()
  const check = async (): Promise<void> => {
    throw new Error('EROFS: read-only file system')
  }
  const { state } = scene({ spool: { ...spool, check } })
  await expect.poll(() => state.log).toEqual([expect.stringMatching(/^The spool cannot be written: while the database is away/)])
  expect(scene({ spool: { ...spool, check: () => {} } }).state.log).toEqual([])
})

test('if neither store nor spool can be written, settlements in memory are written to both once possible', async () => {
  const { spool, own, state: spooled } = memorySpool()
  const { settlements, state, clock, rows } = scene({ spool })
  state.mode = 'down'
  spooled.fails = true
  await settlements.settle(settling('r'))
  expect(state.log.join()).toContain('in memory only')
  await clock.advance(20_000)
  await settlements.settle(settling('s'))
  expect(state.log.filter(message => message.includes('in memory only'))).toHaveLength(1)
  spooled.fails = false
  await clock.advance(5_000)
  expect(own).toHaveLength(2)
  state.mode = 'up'
  await clock.advance(5_000)
  expect([await rows(), own]).toEqual([['r', 's'], []])
})

test('settlements that another process left are written once, whatever was written before; a damaged line is skipped', async () => {
  const { spool, own, left } = memorySpool()
  const { settlements, state, clock, rows, spent } = scene({ spool })
  await settlements.settle(settling('done'))
  left.push(
    formatSettlement(settling('done')),
    '{"row":{"id":"cut',
    '{"row":{},"amounts":{},"slotKeys":[]}',
    formatSettlement(settling('late')),
  )
  await settlements.adopt()
  await clock.advance(1_000)
  expect([await rows(), await spent(), own]).toEqual([['done', 'late'], 10, []])
  expect(state.log.filter(message => message.includes('is not a settlement'))).toHaveLength(2)
  await settlements.adopt()
  expect(await rows()).toHaveLength(2)
})

test('close retries for a limited time, leaves the rest to the spool, and reports how many are left', async () => {
  const { spool, own } = memorySpool()
  const { settlements, state, clock, rows } = scene({ spool })
  state.mode = 'down'
  await settlements.settle(settling('a'))
  await settlements.settle(settling('b'))
  const closed = settlements.close()
  await clock.advance(settlementLimits.closeMs + 1_000)
  await closed
  expect(own).toHaveLength(2)
  expect(state.log.at(-1)).toContain('at the next start')
  expect([await rows(), clock.pending()]).toEqual([[], 0])
})

test('a runtime that may freeze receives a promise that lasts until the queue is empty', async () => {
  const { settlements, state, clock, rows } = scene()
  const works: Promise<unknown>[] = []
  state.mode = 'down'
  await settlements.settle({ ...settling('r'), waitUntil: work => works.push(work) })
  let isOver = false
  void works[0]?.then(() => {
    isOver = true
  })
  await clock.advance(5_000)
  expect([works.length, isOver]).toEqual([1, false])
  state.mode = 'up'
  await clock.advance(10_000)
  expect([isOver, await rows()]).toEqual([true, ['r']])
})

test.each([false, true])('a `waitUntil` that throws delays no settlement, and fails none (with a spool: %s)', async hasSpool => {
  const { settlements, state, clock, rows } = scene(hasSpool ? { spool: memorySpool().spool } : {})
  state.mode = 'down'
  const settled = settlements.settle({
    ...settling('r1'),
    waitUntil: () => {
      throw new Error('The runtime is gone.')
    },
  })
  await clock.advance(1_000)
  state.mode = 'up'
  await clock.advance(10_000)
  expect(await rows()).toEqual(['r1'])
  await settled
  expect(state.log.filter(line => line.includes('`waitUntil` threw'))).toHaveLength(1)
})

test('a spool call that does not return allows no second one beside it, and delays no response longer than its timeout', async () => {
  const lines: string[] = []
  const late: (() => void)[] = []
  let isSilent = true
  const append = async (added: readonly string[]): Promise<void> => {
    if (isSilent) await new Promise<void>(resolve => late.push(resolve))
    lines.push(...added)
  }
  const { settlements, state, clock, rows } = scene({ spool: { append, clear: async () => {}, adopt: async () => [] } })
  state.mode = 'down'
  const answered: string[] = []
  const settle = (id: string): void => void Promise.resolve(settlements.settle(settling(id))).then(() => answered.push(id))
  settle('r1')
  await clock.advance(settlementLimits.spoolMs)
  expect([answered, late.length]).toEqual([['r1'], 1])
  settle('r2')
  await clock.advance(0)
  expect([answered, late.length]).toEqual([['r1', 'r2'], 1])
  isSilent = false
  late[0]?.()
  await clock.advance(5_000)
  expect(lines).toHaveLength(2)
  state.mode = 'up'
  await clock.advance(5_000)
  expect(await rows()).toEqual(['r1', 'r2'])
})

test('a write that completes after its timeout is not reported twice', async () => {
  const { settlements, state, clock, rows, release, spent } = scene()
  const reported: string[] = []
  state.mode = 'stuck'
  void settlements.settle({ ...settling('r'), onSettled: () => void reported.push('r') })
  await clock.advance(settlementLimits.writeMs + 1_000)
  expect(settlements.has('r')).toBe(true)
  release()
  await clock.advance(20_000)
  expect([await rows(), await spent(), reported, settlements.has('r')]).toEqual([['r'], 5, ['r'], false])
})
