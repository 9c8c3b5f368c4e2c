import type { Storage } from '@signalbox/storage'
import { composeStorage, EphemeralError, type EphemeralStores, type RecordChange, withChanges } from '@signalbox/storage/compose'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, onTestFinished, test } from 'vitest'
import { waitFor } from '../../testing/test/waits.ts'

// What happens while an outage ends: calls between the repair of what was deferred and the end of the outage. The
// stores are in memory, and stop where a test says.

const AT = 1_750_000_000_000
const slot = { key: 'w/slots', slot: 'running', limit: 1, ttlMs: 60_000 }

interface Gate {
  /** Resolves once a call has come to it. */
  readonly reached: Promise<void>
  open(): void
  pass(): Promise<void>
}

function makeGate(): Gate {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  return {
    reached,
    open,
    pass() {
      reach()
      return opened
    },
  }
}

function scene() {
  const stores = memoryStorage()
  const state = { isAway: false, gate: undefined as Gate | undefined, damaged: '' }
  const published: (readonly RecordChange[] | undefined)[] = []
  const states: string[] = []
  const call = async <T>(run: () => T, key = ''): Promise<Awaited<T>> => {
    if (state.isAway) throw new EphemeralError('unreachable', 'It is away.')
    if (key !== '' && key === state.damaged) throw new EphemeralError('damaged', 'Another program wrote it.')
    await state.gate?.pass()
    return await run()
  }
  const { counters } = stores
  const ephemeral: EphemeralStores = {
    counters: {
      take: (requests, at) => call(() => counters.take(requests, at)),
      add: (key, amount, at) => call(() => counters.add(key, amount, at)),
      enter: (request, at) => call(() => counters.enter(request, at), request.key),
      leave: (key, name) => call(() => counters.leave(key, name), key),
    },
    changes: { publish: changes => call(() => void published.push(changes)), subscribe: () => () => {} },
    probe: async () => {
      if (state.isAway) throw new EphemeralError('unreachable', 'It is away.')
    },
    close: () => {},
  }
  const logger = { info: () => {}, warn: () => {} }
  const storage = composeStorage({ durable: memoryStorage(), ephemeral, logger, onOutage: event => states.push(event.state) })
  onTestFinished(() => storage.close())
  const commit = (id: string) =>
    storage.records.commit({ puts: [{ kind: 'key', workspaceId: 'w', id, version: 0, createdAt: AT, body: '{}' }] })
  const isOver = () => waitFor(() => expect(states).toEqual(['begun', 'over']))
  return { state, storage, counters, published, commit, isOver, states }
}

describe('while an outage ends', () => {
  test('a commit made while other processes are informed of lost messages is published to them too', async () => {
    const { state, published, commit, isOver } = scene()
    state.isAway = true
    await commit('one')
    const gate = makeGate()
    state.gate = gate
    state.isAway = false
    await gate.reached
    await commit('two')
    state.gate = undefined
    gate.open()
    await isOver()
    // The first message may have been sent before the second commit.
    await waitFor(() => expect(published).toEqual([undefined, undefined]))
  })

  test('a slot that is freed while it is being restored is free in the store', async () => {
    const { state, storage, counters, isOver } = scene()
    state.isAway = true
    expect(await storage.counters.enter(slot, AT)).toBe(true)
    const gate = makeGate()
    state.gate = gate
    state.isAway = false
    await gate.reached
    await storage.counters.leave(slot.key, slot.slot)
    state.gate = undefined
    gate.open()
    await isOver()
    await waitFor(async () => {
      expect(await counters.enter({ ...slot, slot: 'next' }, AT)).toBe(true)
    })
  })

  test('an entry written by another program does not keep it from ending', async () => {
    const { state, storage, counters, isOver } = scene()
    state.isAway = true
    await storage.counters.enter(slot, AT)
    await storage.counters.enter({ ...slot, key: 'v/slots' }, AT)
    await storage.counters.leave('u/slots', 'gone')
    state.damaged = slot.key
    state.isAway = false
    await isOver()
    expect(await counters.enter({ ...slot, key: 'v/slots', slot: 'next' }, AT)).toBe(false)
  })
})

test('a commit whose response was lost is published to other processes, because it may have been applied', async () => {
  const durable = memoryStorage()
  const lost: Storage = {
    ...durable,
    records: {
      ...durable.records,
      async commit(change) {
        await durable.records.commit(change)
        throw new Error('The connection ended before the answer.')
      },
    },
  }
  const published: unknown[] = []
  const channel = { publish: (changes: unknown) => void published.push(changes), subscribe: () => () => {} }
  const { records } = withChanges(lost, channel)
  const put = { kind: 'key', workspaceId: 'w', id: 'revoked', version: 0, createdAt: AT, body: '{}' }
  await expect(Promise.resolve(records.commit({ puts: [put] }))).rejects.toThrow('before the answer')
  expect(published).toEqual([[{ kind: 'key', workspaceId: 'w', id: 'revoked' }]])
})
