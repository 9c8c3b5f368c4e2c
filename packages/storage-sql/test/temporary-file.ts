import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The path of a database that does not exist yet; its folder is removed after the test. `sqliteStorage(temporaryFile())` */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-sql-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'signalbox.db')
}
