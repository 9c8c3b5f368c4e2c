import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The path of a database that does not exist yet, below `folder`; it is removed after the test. `sqliteStorage(temporaryFile())` */
export function temporaryFile(folder = tmpdir()): string {
  const own = mkdtempSync(join(folder, 'signalbox-sql-'))
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))
  return join(own, 'signalbox.db')
}

/** Where files are kept in memory, which Linux has; elsewhere the usual folder. For small files that do not have to outlive the machine. */
export function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}
