import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStorage } from '@signalbox/testing/storage'
import { sqliteStorage } from '../../src/sqlite.ts'
import { onTestFinished, runTests } from './vitest.ts'

// Runs in Bun: the conformance suite over files and, unless the first argument is less than 1, in memory.

const share = Number(process.argv[2])

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bun-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'test.db')
}

const openFile = async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  return {
    storage,
    async reopen() {
      await storage.close()
      return sqliteStorage(path)
    },
  }
}

describeStorage('bun:sqlite', openFile, { share })
if (share === 1)
  describeStorage('bun:sqlite, in memory', async () => ({ storage: sqliteStorage(':memory:') }), { share, lacks: ['reopen', 'spool'] })

process.stdout.write(JSON.stringify(await runTests()))
