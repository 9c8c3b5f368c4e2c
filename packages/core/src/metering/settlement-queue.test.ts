import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { type QueuedSettlement, settlementLimits, settlementQueue, settlementText } from './settlement-queue.ts'
import type { SettlementFacts } from './settlement-text.ts'

afterEach(() => vi.restoreAllMocks())

const facts = (id: string): SettlementFacts => ({ row: { id } as SettlementFacts['row'], amounts: {}, slotKeys: [] })
/** A settlement whose text has the given number of bytes. */
const entry = (id: string, bytes = 100): QueuedSettlement => ({
  settlement: facts(id),
  since: 0,
  resolve: () => {},
  text: 'x'.repeat(bytes),
  spool: 'out',
})
const never = () => false
const always = () => true
const { maxWaiting, maxWaitingBytes, longWaiting, longWaitingBytes, longOutageWaiting, longOutageWaitingBytes } = settlementLimits

/** One text for all: only its length is counted. */
function filled(queue: ReturnType<typeof settlementQueue>, count: number, bytes = 1): QueuedSettlement[] {
  const text = 'x'.repeat(bytes)
  return Array.from({ length: count }, (_, at) => {
    const each = { ...entry(`r${at}`), text }
    expect(queue.add(each)).toBe(true)
    return each
  })
}

test('a queue is full at its maximum number of settlements or bytes, and has room again after a removal', () => {
  const byCount = settlementQueue(never)
  const [first] = filled(byCount, maxWaiting)
  expect(byCount.add(entry('more'))).toBe(false)
  byCount.remove(first as QueuedSettlement)
  expect([byCount.add(entry('more')), byCount.size()]).toEqual([true, maxWaiting])

  const byBytes = settlementQueue(never)
  const parts = filled(byBytes, 128, maxWaitingBytes / 128)
  expect(byBytes.add(entry('more', 1))).toBe(false)
  byBytes.remove(parts[0] as QueuedSettlement)
  expect(byBytes.add(entry('too much', maxWaitingBytes / 128 + 1))).toBe(false)
  expect(byBytes.add(entry('more', maxWaitingBytes / 128))).toBe(true)
})

test('a settlement is queued once, and removing it twice frees its bytes once', () => {
  const queue = settlementQueue(never)
  const each = entry('r', longWaitingBytes)
  expect([queue.add(each), queue.add(each), queue.size(), queue.has('r'), queue.isLong()]).toEqual([true, true, 1, true, true])
  queue.remove(each)
  queue.remove(each)
  expect([queue.size(), queue.has('r'), queue.isLong()]).toEqual([0, false, false])
  queue.add(entry('other', longWaitingBytes - 1))
  expect(queue.isLong()).toBe(false)
  queue.add(entry('byte', 1))
  expect(queue.isLong()).toBe(true)
})

test.each([
  ['fails in an outage', { servesInOutage: never, count: longWaiting, bytes: longWaitingBytes }],
  ['continues in an outage', { servesInOutage: always, count: longOutageWaiting, bytes: longOutageWaitingBytes }],
])('with a storage that %s, a queue is long from its threshold of settlements or bytes', (_, { servesInOutage, count, bytes }) => {
  const byCount = settlementQueue(servesInOutage)
  filled(byCount, count - 1)
  expect(byCount.isLong()).toBe(false)
  byCount.add(entry('last', 1))
  expect(byCount.isLong()).toBe(true)

  const byBytes = settlementQueue(servesInOutage)
  filled(byBytes, 64, bytes / 64)
  expect(byBytes.isLong()).toBe(true)
  byBytes.remove(byBytes.first(1)[0] as QueuedSettlement)
  expect(byBytes.isLong()).toBe(false)
})

test('the first settlements are returned in order of arrival, up to the requested number', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), fc.integer({ min: 0, max: 25 }), (ids, count) => {
      const queue = settlementQueue(never)
      for (const id of ids) queue.add(entry(id))
      expect(queue.first(count).map(({ settlement }) => settlement.row.id)).toEqual(ids.slice(0, count))
    }),
  )
})

test('the text of a settlement is serialized once', () => {
  const each = entry('r', 0)
  const stringify = vi.spyOn(JSON, 'stringify')
  expect(settlementText(each)).toBe('{"row":{"id":"r"},"amounts":{},"slotKeys":[]}')
  expect(settlementText(each)).toBe(each.text)
  expect(stringify).toHaveBeenCalledTimes(1)
})
