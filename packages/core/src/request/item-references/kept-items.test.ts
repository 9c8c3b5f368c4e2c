import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { defaultStoredItems, keepItemsInMemory, type StoredItemOptions } from './kept-items.ts'

const hour = 3_600_000

const kept = (options: StoredItemOptions = {}) => {
  const time = { now: 5 * hour }
  const items = keepItemsInMemory({ ...defaultStoredItems, ...options, clock: { monotonic: () => time.now } })
  const find = async (workspaceId: string, ...ids: readonly string[]) => [...(await items.find(workspaceId, ids)).keys()]
  return { items, time, find }
}

const message = (id: string, text = 'Hi'): JsonObject => ({
  ...{ type: 'message', id, status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})

test('an item is found by its id in its own workspace only, as the same object that was kept', async () => {
  const { items, find } = kept()
  const item = message('msg_1')
  expect(items.keep('w', [item, { type: 'message' }, { id: '' }])).toBeUndefined()
  expect((await items.find('w', ['msg_1', 'msg_2'])).get('msg_1')).toBe(item)
  expect(await find('other', 'msg_1')).toEqual([])
  expect(await find('w', 'msg_2', '__proto__', 'constructor')).toEqual([])
})

test('an item expires an hour after its last use', async () => {
  const { items, time, find } = kept()
  void items.keep('w', [message('used'), message('unused')])
  for (let half = 0; half < 4; half++) {
    time.now += hour / 2
    expect(await find('w', 'used')).toEqual(['used'])
  }
  expect(await find('w', 'unused')).toEqual([])
  time.now += hour - 1
  expect(await find('w', 'used')).toEqual(['used'])
  time.now += hour
  expect(await find('w', 'used')).toEqual([])
})

test('if a workspace has too many items, the least recently used are removed, and those of other workspaces stay', async () => {
  const { items, find } = kept({ maxBytes: 10_000 })
  void items.keep('other', [message('theirs')])
  void items.keep('w', [message('a', 'x'.repeat(3_000)), message('b', 'x'.repeat(3_000))])
  expect(await find('w', 'a')).toEqual(['a'])
  void items.keep('w', [message('c', 'x'.repeat(3_000))])
  expect(await find('w', 'a', 'b', 'c')).toEqual(['a', 'c'])
  expect(await find('other', 'theirs')).toEqual(['theirs'])
})

test('if all workspaces together have too many items, the least recently used are removed', async () => {
  const { items, find } = kept({ maxTotalBytes: 24_000 })
  for (const workspace of ['u', 'v', 'w']) void items.keep(workspace, [message('a', 'x'.repeat(3_000))])
  expect(await find('u', 'a')).toEqual(['a'])
  void items.keep('x', [message('a', 'x'.repeat(3_000))])
  const left = await Promise.all(['u', 'v', 'w', 'x'].map(async workspace => (await find(workspace, 'a')).length))
  expect(left).toEqual([1, 0, 1, 1])
})

test.each([
  ['a workspace', (_: number) => 'large'],
  ['the end users of a workspace', (at: number) => JSON.stringify(['large', `user:${at}`])],
])('what %s keeps does not remove the items of a smaller workspace or of a smaller user', async (_, ownerOf) => {
  const { items, find } = kept({ maxTotalBytes: 200_000 })
  const user = JSON.stringify(['large', 'user:small'])
  void items.keep('small', [message('theirs', 'x'.repeat(10_000))])
  void items.keep(user, [message('own')])
  for (let at = 0; at < 100; at++) void items.keep(ownerOf(at), [message(`msg_${at}`, 'x'.repeat(10_000))])
  expect([await find('small', 'theirs'), await find(ownerOf(99), 'msg_99')]).toEqual([['theirs'], ['msg_99']])
  expect(await find(user, 'own')).toEqual(['own'])
})

test('an item larger than the limit of its workspace is not kept, and removes none', async () => {
  for (const options of [{ maxBytes: 10_000 }, { maxTotalBytes: 10_000 }]) {
    const { items, find } = kept(options)
    void items.keep('w', [message('small'), message('large', 'x'.repeat(10_000)), message('wide', '\u0100'.repeat(5_000))])
    expect(await find('w', 'small', 'large', 'wide')).toEqual(['small'])
  }
})

test('an id is claimed once in a workspace, also for a response that is still streaming', async () => {
  const { items, find } = kept()
  expect(items.claim('w', { id: 'msg_1', type: 'message', at: 5 * hour })).toBe(true)
  expect(items.claim('w', { id: 'msg_1', type: 'message', at: 5 * hour })).toBe(false)
  expect(items.claim('other', { id: 'msg_1', type: 'message', at: 5 * hour })).toBe(true)
  expect(await find('w', 'msg_1')).toEqual([])
  void items.keep('w', [message('msg_1')])
  expect(items.claim('w', { id: 'msg_1', type: 'message', at: 5 * hour })).toBe(false)
  expect(await find('w', 'msg_1')).toEqual(['msg_1'])
  expect(items.claim('w', { id: 'x'.repeat(5_000), type: 'message', at: 5 * hour })).toBe(false)
})

test('the id of an item that is too large to be kept stays taken, so that a reference to it finds no item of another response', async () => {
  const { items, find } = kept({ maxBytes: 10_000 })
  expect(items.claimToKeep('w', { id: 'ig_1', type: 'native', at: 5 * hour })).toBe(true)
  void items.keep('w', [message('ig_1', 'x'.repeat(10_000))])
  expect(items.claimToKeep('w', { id: 'ig_1', type: 'native', at: 5 * hour })).toBe(false)
  expect(items.claim('w', { id: 'ig_1', type: 'native', at: 5 * hour })).toBe(false)
  expect(await find('w', 'ig_1')).toEqual([])
})

test('a claim lasts although nothing was kept for long before it', () => {
  const { items, time } = kept()
  void items.keep('w', [message('old')])
  time.now += 2 * hour
  expect(items.claim('w', { id: 'msg_1', type: 'message', at: time.now })).toBe(true)
  void items.keep('other', [message('new')])
  expect(items.claim('w', { id: 'msg_1', type: 'message', at: time.now })).toBe(false)
})

test('memory is bounded: small items of many workspaces, and huge ones, stay within the limit', () => {
  const maxTotalBytes = 4_000_000
  const { items } = kept({ maxBytes: 1_000_000, maxTotalBytes })
  const before = heapUsed()
  for (let at = 0; at < 60_000; at++) void items.keep(`w${at % 20_000}`, [message(`msg_${at}`, `Answer ${at}`)])
  for (let at = 0; at < 300; at++) void items.keep('w', [message(`huge_${at}`, `${at}`.padEnd(900_000, 'x'))])
  expect(heapUsed() - before).toBeLessThan(20 * maxTotalBytes)
})

function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
