import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { TotalsQuery, UsageRow, UsageStore } from '@signalbox/storage'
import { createTotalsBuilder, intervalMs } from '@signalbox/storage/usage-totals'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { SqliteDatabase } from '../src/sqlite/engine.ts'
import { migrateFile } from '../src/sqlite/file-connection.ts'
import { sqliteStorage } from '../src/sqlite.ts'
import { temporaryFile } from './temporary-file.ts'
import { MIDNIGHT, makeRow } from './usage-row.ts'

const child = fileURLToPath(new URL('usage-child.ts', import.meta.url))
const always = { workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER }

/** Another process that appends; its `stdout` has the number of rows so far. */
function start(path: string, name: string, rows: number): ChildProcess {
  const args = ['--conditions=signalbox-source', child, path, name, String(rows)]
  const process_ = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    process_.kill('SIGKILL')
  })
  return process_
}

function openUsage(path: string): UsageStore {
  const storage = sqliteStorage(path)
  onTestFinished(() => storage.close())
  return storage.usage
}

/** Every way to ask, against all rows read one by one. */
async function checkTotals(usage: UsageStore, rows: readonly UsageRow[]): Promise<void> {
  const queries: readonly Partial<TotalsQuery>[] = [
    {},
    { interval: 'hour', groupBy: 'model' },
    { interval: 'day', groupBy: 'key' },
    { interval: 'day', provider: 'p1' },
    { groupBy: 'provider', from: MIDNIGHT + 1, to: MIDNIGHT + 3 * intervalMs.day - 1 },
    { keyId: 'key_1', groupBy: 'model' },
  ]
  for (const part of queries) {
    const query = { ...always, ...part }
    const totals = createTotalsBuilder(query)
    const { from, to, keyId, provider } = query
    for (const row of rows)
      if (row.at >= from && row.at < to && (keyId ?? row.keyId) === row.keyId && (provider ?? row.provider) === row.provider)
        totals.addRow(row)
    expect(await usage.totals(query)).toEqual(totals.totals())
  }
}

test('processes that append to one file and read totals concurrently count every row once', async () => {
  const path = temporaryFile()
  const usage = openUsage(path)
  const others = ['one', 'two'].map(name => start(path, name, 3_200))
  const over = Promise.all(others.map(other => once(other, 'close')))
  let left = others.length
  void over.then(() => {
    left = 0
  })
  let seen = 0
  for (let n = 0; left > 0; n++) {
    await usage.append(makeRow(`mine-${n}`, n))
    const requests = (await usage.totals(always))[0]?.requests ?? 0
    expect(requests).toBeGreaterThan(seen)
    seen = requests
  }
  await over
  const rows = await usage.list({ ...always, limit: 100_000 })
  expect(rows.length).toBeGreaterThan(6_400)
  await checkTotals(usage, rows)
})

test('kill -9 while rows are counted into totals leaves the totals exact', async () => {
  const path = temporaryFile()
  for (let round = 0; round < (inject('isLongRun') ? 4 : 2); round++) {
    const running = start(path, `r${round}`, 1_000_000)
    let told = 0
    running.stdout?.setEncoding('utf8').on('data', text => {
      told = Number(String(text).trim().split('\n').at(-1))
      if (told > 700 + round * 150) running.kill('SIGKILL')
    })
    await once(running, 'close')
    const usage = openUsage(path)
    const rows = await usage.list({ ...always, limit: 100_000 })
    expect(rows.filter(({ id }) => id.startsWith(`r${round}`)).length).toBeGreaterThanOrEqual(told)
    await checkTotals(usage, rows)
  }
})

test('forgotten rows count in whole hours, and no longer where rows have to be read', async () => {
  const usage = openUsage(temporaryFile())
  // The oldest come last: they are not in the kept totals yet.
  await Promise.all(Array.from({ length: 1_700 }, (_, i) => 1_699 - i).map(n => usage.append(makeRow(`req_${n}`, n))))
  // Two minutes before the end of an hour, of which nine rows are forgotten.
  const before = MIDNIGHT + 2 * intervalMs.day - 120_000
  const ways: readonly Partial<TotalsQuery>[] = [{}, { interval: 'day', groupBy: 'model' }, { interval: 'hour', keyId: 'key_2' }]
  const told = await Promise.all(ways.map(way => usage.totals({ ...always, ...way })))
  expect(await usage.forget({ workspaceId: 'ws_1', before, limit: 1_200 })).toBe(412)
  expect(await Promise.all(ways.map(way => usage.totals({ ...always, ...way })))).toEqual(told)
  expect(await usage.totals({ ...always, to: before })).toMatchObject([{ requests: 403 }])
  expect(await usage.totals({ ...always, keyId: 'key_1', model: 'm1', to: before })).toEqual([])
  expect(await usage.list({ ...always, keyId: 'key_1', to: before, limit: 9 })).toEqual([])
})

test('rows that no stored totals count are in the totals as soon as they are read', async () => {
  const path = temporaryFile()
  const old = new DatabaseSync(path)
  migrateFile(old as unknown as SqliteDatabase)
  old.exec(`
    WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 4999)
    INSERT INTO usage (id, workspace_id, key_id, at, model_asked, model, provider, credential, strategy, streamed, input_tokens,
      output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost, byok_cost, result, attempts, duration_ms, warnings)
    SELECT 'req_' || n, 'ws_1', 'key_' || (n % 3), ${MIDNIGHT} + n * 60000, 'm', 'm', 'p', 'platform', 's', 0, 1, 1, 0, 0, 0, 0, n, 0, 'ok', 1, 9, '[]' FROM n`)
  old.close()
  const usage = openUsage(path)
  expect(await usage.totals(always)).toMatchObject([{ requests: 5_000, cost: (4_999 * 5_000) / 2, byokCost: 0 }])
  expect(await usage.list({ ...always, keyId: 'key_2', limit: 1 })).toMatchObject([{ id: 'req_4997', byokCost: 0 }])
})
