import { type RequestSettlement, type SettlementStores, settleInParts } from '@signalbox/storage/settlement'
import { expect, test } from 'vitest'
import { usageRow } from '../src/storage/usage.ts'

const settlement: RequestSettlement = { row: usageRow('r'), amounts: { a: 7 }, slotKeys: ['k1', 'k2'], at: 5 }

/** Stores that record which methods are called, one of which fails. */
function stores(failing?: string, error = new Error('connect ECONNREFUSED')) {
  const calls: string[] = []
  const call = async (name: string): Promise<void> => {
    await undefined
    if (name === failing) throw error
    calls.push(name)
  }
  const found: SettlementStores = {
    ledger: { settle: ({ id }) => call(`charge ${id}`) },
    usage: { append: ({ id }) => call(`row ${id}`) },
    counters: { leave: (key, slot) => call(`slot ${key} ${slot}`) },
  }
  return { calls, found }
}

test('a settlement in parts writes the row before the charge, which ends the hold', async () => {
  const { calls, found } = stores()
  await settleInParts(found, settlement)
  expect(calls).toEqual(['row r', 'charge r', 'slot k1 r', 'slot k2 r'])
})

test('a settlement in parts whose row cannot be written yet charges nothing, so that its hold remains for the next try', async () => {
  const { calls, found } = stores('row r')
  await expect(settleInParts(found, settlement)).rejects.toThrow('ECONNREFUSED')
  expect(calls).toEqual([])
})

test('a settlement in parts with an invalid row writes the rest, then fails with that error', async () => {
  const { calls, found } = stores('row r', new RangeError('tokens'))
  await expect(settleInParts(found, settlement)).rejects.toThrow('tokens')
  expect(calls).toEqual(['charge r', 'slot k1 r', 'slot k2 r'])
})

test('a settlement in parts frees its slots even if its charge fails, then fails with that error', async () => {
  const { calls, found } = stores('charge r')
  await expect(settleInParts(found, settlement)).rejects.toThrow('ECONNREFUSED')
  expect(calls).toEqual(['row r', 'slot k1 r', 'slot k2 r'])
})
