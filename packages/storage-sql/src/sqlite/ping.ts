import { statSync } from 'node:fs'
import type { SqliteEngine } from './engine.ts'
import type { FileConnection } from './file-connection.ts'
import { readVersion } from './migrate.ts'
import { verbRunner } from './run-verb.ts'

/**
 * Creates a check that the file is usable. It writes nothing and takes no lock that a writer needs. It reads the file over a separate
 * connection, so that a missing, replaced or damaged file is noticed although requests read cached pages. Problems that only a write can
 * show (a full disk, a stuck lock) are known from the writes of requests.
 */
export function makePing(connection: FileConnection, { engine, path }: { readonly engine: SqliteEngine; readonly path: string }) {
  const inMemory = path === ':memory:' || path === ''
  const opened = inMemory ? undefined : fileId(path)
  return async (): Promise<void> => {
    await connection.read({
      ...readVersion,
      answer() {
        if (!inMemory) checkFile(engine, path, opened)
      },
    })
    const trouble = connection.trouble()
    if (trouble) throw trouble
  }
}

function checkFile(engine: SqliteEngine, path: string, opened: string | undefined): void {
  if (fileId(path) !== opened) throw new Error('the file was moved or replaced after it was opened')
  const db = engine.open(path, { readOnly: true })
  try {
    if (verbRunner(db).batch(readVersion.statements)[0]?.length === 0) throw new Error('the database has lost its tables')
  } finally {
    db.close()
  }
}

function fileId(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}:${ino}`
}
