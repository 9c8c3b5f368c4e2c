import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Connection } from './group.ts'

/**
 * Tells whether the database can be used, and writes nothing: it takes no lock that a writer needs and adds nothing to the WAL.
 * A connection of its own reads the file, so that a file that is gone, replaced or no database any more is noticed, though the pages that
 * requests use are cached. What only a write can show (a full disk, a lock that stays) is told of the writes that requests make.
 */
export function makePing(connection: Connection, path: string): () => Promise<void> {
  const inMemory = path === ':memory:' || path === ''
  const opened = inMemory ? undefined : idOf(path)
  return async () => {
    await connection.read(() => {
      if (inMemory) look(connection.db)
      else lookAgain(path, opened)
    })
    const trouble = connection.trouble()
    if (trouble) throw trouble
  }
}

function lookAgain(path: string, opened: string | undefined): void {
  if (idOf(path) !== opened) throw new Error('the file is not the one that was opened: it was moved or replaced')
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    look(db)
  } finally {
    db.close()
  }
}

function look(db: DatabaseSync): void {
  if (db.prepare('SELECT version FROM schema_version').get() === undefined) throw new Error('the database has lost its tables')
}

function idOf(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}:${ino}`
}
