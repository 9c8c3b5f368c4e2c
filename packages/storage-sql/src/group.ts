import type { DatabaseSync } from 'node:sqlite'
import type { Awaitable } from '@signalbox/storage'

// SQLite's price is the commit, not the statement. So verbs called in one turn of the event loop share a transaction, and
// each is answered only after COMMIT. The lock is taken at BEGIN: what a verb reads, no other process changes under it.

export interface Connection {
  readonly db: DatabaseSync
  /** Runs with the others of this turn, in one transaction; resolves once it is committed. Must be safe to run again. */
  write<T>(run: () => T): Promise<T>
  /** Sees what has been committed. Answers at once, or by promise where it waits for a lock. */
  read<T>(run: () => T): Awaitable<T>
  /** Why writes do not succeed at present: the lock has been taken for long, or the last one failed a moment ago. */
  trouble(): Error | undefined
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly path: string
  /** How long a verb waits while another process writes. */
  readonly busyTimeoutMs: number
}

interface Job {
  /** Verbs called in one go, with no turn of the microtask queue between them, are never split between transactions. */
  readonly burst: number
  readonly run: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (reason: unknown) => void
  value: unknown
  error: unknown
}

/** A longer transaction would hold up the event loop and every other process. */
const MOST_AT_ONCE = 512
const SQLITE_BUSY = 5
/** Codes of SQLite for a file that cannot be written: read-only, I/O error, damaged, full, cannot be opened, no database. */
const unwritable: ReadonlySet<number> = new Set([8, 10, 11, 13, 14, 26])
/** So long another process may write before it is told of. */
const blockedMs = 1_000
/** So long a failed write is told of, where none follows it. */
const failedMs = 5_000

/** Wraps an open database. `openConnection(db, { path, busyTimeoutMs: 5_000 }).write(() => statement.run())` */
export function openConnection(db: DatabaseSync, { path, busyTimeoutMs }: ConnectionOptions): Connection {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  let waiting: Job[] = []
  let burst = 0
  let isBursting = false
  let closing: Promise<void> | undefined
  /** When the lock was first refused to the jobs in front, by the monotonic clock. */
  let blockedSince: number | undefined
  let failed: { readonly error: Error; readonly at: number } | undefined
  const noteFailure = (error: unknown): void => {
    if (isBusy(error) || unwritable.has(codeOf(error))) failed = { error: explained(error, path), at: performance.now() }
  }

  const flush = (): void => {
    const group = waiting.splice(0, groupEnd(waiting))
    if (!start(group)) return
    try {
      for (const job of group) job.value = job.run()
      commit.run()
      failed = undefined
    } catch (error) {
      rollBack(db)
      noteFailure(error)
      if (group.length === 1) fail(group, error)
      else oneByOne(group)
    }
    if (waiting.length > 0) setImmediate(flush)
    for (const job of group) answer(job)
  }

  /** Begins the transaction. False: the lock is taken, and the jobs wait for their turn without holding up the event loop. */
  const start = (group: Job[]): boolean => {
    try {
      begin.run()
      blockedSince = undefined
      return true
    } catch (error) {
      blockedSince ??= performance.now()
      if (isBusy(error) && performance.now() - blockedSince < busyTimeoutMs) {
        waiting = [...group, ...waiting]
        setTimeout(flush, 1)
        return false
      }
      blockedSince = undefined
      noteFailure(error)
      fail(group, explained(error, path))
      for (const job of group) answer(job)
      if (waiting.length > 0) setImmediate(flush)
      return false
    }
  }

  /** A verb threw: again from the start, each behind its own savepoint, so that it alone is refused. */
  const oneByOne = (group: readonly Job[]): void => {
    try {
      begin.run()
      for (const job of group) {
        db.exec('SAVEPOINT verb')
        try {
          job.value = job.run()
        } catch (error) {
          job.error = error
          db.exec('ROLLBACK TO verb')
        }
        db.exec('RELEASE verb')
      }
      commit.run()
      failed = undefined
    } catch (error) {
      rollBack(db)
      noteFailure(error)
      fail(group, explained(error, path))
    }
  }

  const endBurst = (): void => {
    burst++
    isBursting = false
  }
  const enqueue = <T>(run: () => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      // Not empty: a turn has been asked for already.
      if (waiting.length === 0) setImmediate(flush)
      if (!isBursting) {
        isBursting = true
        queueMicrotask(endBurst)
      }
      waiting.push({ burst, run, resolve, reject, value: undefined, error: undefined })
    })

  const closedError = (): Error => new Error(`sqliteStorage: \`${path}\` is closed. Open it again, or close it after the last request.`)

  const read = <T>(run: () => T): Awaitable<T> => {
    if (closing) throw closedError()
    try {
      return run()
    } catch (error) {
      if (!isBusy(error)) throw explained(error, path)
      return readOnceFree(run)
    }
  }

  /** Tries again until no other connection holds the lock, or it has waited for too long. */
  const readOnceFree = async <T>(run: () => T): Promise<T> => {
    const started = performance.now()
    for (;;) {
      await new Promise(resolve => setTimeout(resolve, 1))
      try {
        return run()
      } catch (error) {
        if (!isBusy(error) || performance.now() - started > busyTimeoutMs) throw explained(error, path)
      }
    }
  }

  return {
    db,
    write: run => (closing ? Promise.reject(closedError()) : enqueue(run)),
    read,
    trouble() {
      const now = performance.now()
      if (blockedSince !== undefined && now - blockedSince > blockedMs)
        return new Error(`sqliteStorage: \`${path}\`: another process has been writing for more than ${blockedMs} ms.`)
      return failed !== undefined && now - failed.at < failedMs ? failed.error : undefined
    },
    close() {
      // An empty verb at the end of the queue: when it is answered, so are all before it.
      closing ??= enqueue(() => undefined).finally(() => db.close())
      return closing
    },
  }
}

/** Where the first group ends: after the burst that it would else cut. */
function groupEnd(waiting: readonly Job[]): number {
  let end = Math.min(waiting.length, MOST_AT_ONCE)
  while (end < waiting.length && waiting[end]?.burst === waiting[end - 1]?.burst) end++
  return end
}

function answer(job: Job): void {
  if (job.error === undefined) job.resolve(job.value as never)
  else job.reject(job.error)
}

function fail(group: readonly Job[], error: unknown): void {
  for (const job of group) job.error = error
}

function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    // A full disk or a failed COMMIT ends the transaction by itself: there is nothing left to undo.
  }
}

/** Another connection holds the lock. `if (isBusy(error)) retry()` */
export const isBusy = (error: unknown): boolean => codeOf(error) === SQLITE_BUSY

/** The primary code of an error of SQLite; 0 where it is none. */
function codeOf(error: unknown): number {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : 0
}

function explained(error: unknown, path: string): Error {
  const trouble = error instanceof Error ? error.message : String(error)
  const wayOut = isBusy(error)
    ? 'Another process writes for too long: close it, or raise `busyTimeoutMs`.'
    : 'Check that the file and its folder can be written and the disk has room.'
  return new Error(`sqliteStorage: \`${path}\`: ${trouble}. ${wayOut}`, { cause: error })
}
