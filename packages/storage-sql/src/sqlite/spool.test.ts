import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../../test/temporary-file.ts'
import { sqliteStorage } from '../sqlite.ts'
import { findEngine } from './engine.ts'
import { checkSpool, sqliteSpool } from './spool.ts'

const child = fileURLToPath(new URL('../../test/spool-child.ts', import.meta.url))

const spoolFiles = (path: string) => readdirSync(dirname(path)).filter(name => name.includes('-spool-'))

/** A process that appends lines until it is killed; resolves to the acknowledged lines. */
async function killedAfter(path: string, lines: number): Promise<readonly string[]> {
  const running = spawn(process.execPath, ['--conditions=signalbox-source', child, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void running.kill('SIGKILL'))
  let text = ''
  running.stdout.setEncoding('utf8').on('data', chunk => {
    text += chunk
    if (text.split('\n').length > lines) running.kill('SIGKILL')
  })
  await once(running, 'close')
  return text.split('\n').slice(0, -1)
}

test('a spool works while another process has the lock of the database', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  const blocker = new DatabaseSync(path)
  blocker.exec('BEGIN EXCLUSIVE')
  await storage.spool?.append(['kept'])
  blocker.exec('COMMIT')
  blocker.close()
  await storage.close()
  const other = sqliteSpool(findEngine(), path)
  onTestFinished(other.close)
  expect(await other.adopt()).toEqual(['kept'])
})

test('the spool of a live process is adopted by no other', async () => {
  const path = temporaryFile()
  const [one, other] = [sqliteSpool(findEngine(), path), sqliteSpool(findEngine(), path)]
  await one.append(['of one'])
  expect(await other.adopt()).toEqual([])
  await other.append(['of the other'])
  expect(await one.adopt()).toEqual([])
  one.close()
  expect(await other.adopt()).toEqual(['of one'])
  other.close()
})

test('kill -9 loses no acknowledged line, and the spool is adopted by exactly one of many processes', async () => {
  const path = temporaryFile()
  const kept = await killedAfter(path, 60)
  expect(kept.length).toBeGreaterThanOrEqual(60)
  const spools = Array.from({ length: 5 }, () => sqliteSpool(findEngine(), path))
  const found = (await Promise.all(spools.map(spool => spool.adopt()))).filter(lines => lines.length > 0)
  expect(found).toHaveLength(1)
  expect(kept.filter(line => !found[0]?.includes(line))).toEqual([])
  for (const spool of spools) spool.close()
  const last = sqliteSpool(findEngine(), path)
  expect((await last.adopt()).slice(0, kept.length)).toEqual(kept)
  await last.clear()
  last.close()
  expect(spoolFiles(path)).toEqual([])
})

test('a storage that never had to wait has no spool file, nor has one that was closed', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  await storage.spool?.adopt()
  await storage.spool?.clear()
  expect(spoolFiles(path)).toEqual([])
  await storage.spool?.append(['a'])
  expect(spoolFiles(path).length).toBeGreaterThan(0)
  await storage.spool?.clear()
  await storage.close()
  expect(spoolFiles(path)).toEqual([])
})

test('an invalid spool file is reported once, kept, and does not prevent adoption of others', async () => {
  const path = temporaryFile()
  writeFileSync(`${path}-spool-0`, 'This is no database, and long enough to be seen as none. '.repeat(20))
  const left = sqliteSpool(findEngine(), path)
  await left.append(['kept'])
  left.close()
  const spool = sqliteSpool(findEngine(), path)
  onTestFinished(spool.close)
  await expect(spool.adopt()).rejects.toThrow('-spool-0')
  expect(await spool.adopt()).toEqual(['kept'])
  expect(spoolFiles(path)).toContain(`${path.split('/').at(-1)}-spool-0`)
})

test('a storage in memory has no spool', () => {
  const storage = sqliteStorage(':memory:')
  onTestFinished(() => storage.close())
  expect(storage.spool).toBeUndefined()
})

test('a check of a spool names the folder that cannot be written, and leaves no file where it can', () => {
  const path = temporaryFile()
  checkSpool(findEngine(), path)
  expect(spoolFiles(path)).toEqual([])
  expect(() => checkSpool(findEngine(), `${dirname(path)}/missing/signalbox`)).toThrow(
    /`signalbox-spool-…` can be written in `.*\/missing`: .* Name a path/,
  )
})
