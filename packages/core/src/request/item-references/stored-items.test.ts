import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { sealingKey } from '../../../test/state/fixture.ts'
import { makeKeyRing } from '../../runtime/seal.ts'
import { defaultStoredItems } from './kept-items.ts'
import { keepItemsInStorage } from './stored-items.ts'

const minute = 60_000
const hour = 60 * minute
const logger = { info: () => {}, warn: () => {}, error: () => {} }

function kept() {
  const time = { now: 1_750_000_000_000 }
  const { items: store } = memoryStorage()
  if (!store) throw new Error('The memory storage keeps items.')
  const renewed: (readonly string[])[] = []
  let puts = 0
  const watched: typeof store = {
    put(...row) {
      puts += 1
      return store.put(...row)
    },
    find: (...row) => store.find(...row),
    renew(owner, ids, times) {
      renewed.push(ids)
      return store.renew(owner, ids, times)
    },
  }
  const items = keepItemsInStorage(
    { ...defaultStoredItems, ttl: hour },
    { store: watched, ring: makeKeyRing(() => [sealingKey]), clock: { now: () => time.now }, logger },
  )
  const find = async (...ids: readonly string[]) => [...(await items.find('w', ids)).keys()]
  return { items, time, renewed, find, puts: () => puts }
}

test('an item that is referenced in time stays for another hour, and one that is not expires', async () => {
  const { items, time, find } = kept()
  await items.keep('w', [
    { type: 'message', id: 'used' },
    { type: 'message', id: 'unused' },
  ])
  time.now += 50 * minute
  expect(await find('used')).toEqual(['used'])
  time.now += 50 * minute
  expect(await find('used', 'unused')).toEqual(['used'])
})

test('an item is renewed once a minute of its hour has passed, and not with each step of an agent', async () => {
  const { items, time, find, renewed } = kept()
  await items.keep('w', [{ type: 'message', id: 'a' }])
  time.now += minute
  await find('a')
  expect(renewed).toEqual([])
  time.now += 1
  await find('a')
  expect(renewed).toEqual([['a']])
})

test('a provider’s id is claimed once in a workspace, if it may be unique', () => {
  const { items } = kept()
  const id = 'rs_0123456789abcdef0123456789'
  expect(items.claim('w', { id, type: 'reasoning', at: 0 })).toBe(true)
  expect(items.claim('w', { id, type: 'reasoning', at: 0 })).toBe(false)
  expect(items.claim('other', { id, type: 'reasoning', at: 0 })).toBe(true)
  expect(items.claim('w', { id: 'rs_1', type: 'reasoning', at: 0 })).toBe(false)
  expect(items.claim('w', { id: `msg_${id}`, type: 'message', at: 0 })).toBe(false)
})

test('a provider’s id that databases refuse or change is not claimed', () => {
  const { items } = kept()
  const id = 'rs_0123456789abcdef0123456789'
  for (const odd of ['\0', '\ud800']) expect(items.claim('w', { id: `${id}${odd}`, type: 'reasoning', at: 0 })).toBe(false)
})

test('items are written in one call, and nothing is written if there are none to keep', async () => {
  const { items, puts } = kept()
  await items.keep('w', [])
  await items.keep('w', [{ type: 'message' }])
  expect(puts()).toBe(0)
  await items.keep('w', [
    { type: 'message', id: 'a' },
    { type: 'message', id: 'b' },
  ])
  expect(puts()).toBe(1)
})
