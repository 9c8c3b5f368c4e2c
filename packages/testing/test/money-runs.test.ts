import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import fc from 'fast-check'
import { afterAll, expect, inject, test } from 'vitest'
import { faultsIn, play, runs } from './money-runs.ts'

// `pnpm lab money` plays ten thousand.

const folder = mkdtempSync(join(tmpdir(), 'signalbox-runs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const seen = new Set<string>()

test.each<[string, () => Storage, number]>([
  ['memory', () => memoryStorage(), inject('isLongRun') ? 150 : 30],
  ['SQLite', () => sqliteStorage(join(folder, `${++files}.db`)), inject('isLongRun') ? 50 : 8],
])(
  'over %s false usage, endless streams and disconnecting clients take no balance below zero, and each request has one row',
  async (_, open, numRuns) => {
    await fc.assert(
      fc.asyncProperty(runs, async run => {
        const played = await play(run, open())
        for (const outcome of played.outcomes) seen.add(outcome)
        expect(await faultsIn(played)).toEqual([])
        await played.storage.close()
      }),
      { numRuns },
    )
  },
  240_000,
)

test('the random runs reach the intended cases', () => {
  expect([...seen]).toEqual(expect.arrayContaining(['ok', 'left', 'insufficient_credits', 'budget_exceeded', 'provider_error', 'crashed']))
})
