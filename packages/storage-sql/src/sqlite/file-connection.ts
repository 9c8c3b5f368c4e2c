import type { Awaitable } from '@signalbox/storage'
import type { Connection } from './connection.ts'
import { isBusy, isUnwritable, type SqliteDatabase, type SqliteEngine } from './engine.ts'
import { type Migration, migrate } from './migrate.ts'
import { type VerbOutcome, type VerbRunner, verbRunner } from './run-verb.ts'
import type { Verb } from './verb.ts'

// SQLite's cost is the commit, not the statement. So verbs called in the same turn of the event loop share a transaction, and each returns
// only after COMMIT. The lock is taken at BEGIN, so no other process changes what a verb reads.

/** A file with grouped writes. */
export interface FileConnection extends Connection {
  readonly db: SqliteDatabase
  /** Runs with the other writes of this turn, and resolves once all of them are committed. */
  write<T>(verb: Verb<T>): Promise<T>
  /** Returns synchronously, or a promise if it has to wait for a lock. */
  read<T>(verb: Verb<T>): Awaitable<T>
  /** Why writes currently fail: another process has held the lock for long, or the latest write failed. */
  trouble(): Error | undefined
  close(): Promise<void>
}

export interface FileConnectionOptions {
  readonly engine: SqliteEngine
  readonly path: string
  /** Milliseconds that a verb waits while another process writes. */
  readonly busyTimeoutMs: number
}

interface Job {
  /** Writes called without yielding to the microtask queue form a burst, which is never split between transactions. */
  readonly burst: number
  readonly verb: Verb<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (reason: unknown) => void
  outcome: VerbOutcome | undefined
  error: unknown
}

/** Maximum writes in one transaction: a longer one would block the event loop and all other processes. */
const MAX_GROUP = 512
/** Milliseconds that another process may hold the lock before `trouble` reports it. */
const reportBlockedAfterMs = 1_000
/** Milliseconds for which `trouble` reports a failed write, unless a later one succeeds. */
const reportFailureForMs = 5_000

interface State extends FileConnectionOptions {
  readonly db: SqliteDatabase
  readonly runner: VerbRunner
  waiting: Job[]
  burst: number
  isBursting: boolean
  closing: Promise<void> | undefined
  /** When the lock was first refused to the first waiting jobs, in monotonic milliseconds. */
  blockedSince: number | undefined
  failed: { readonly error: Error; readonly at: number } | undefined
}

/** Wraps an open file. `openFileConnection(engine.open(path), { engine, path, busyTimeoutMs: 5_000 }).write(verb)` */
export function openFileConnection(db: SqliteDatabase, options: FileConnectionOptions): FileConnection {
  const state: State = {
    ...{ ...options, db, runner: verbRunner(db), waiting: [], burst: 0, isBursting: false },
    ...{ closing: undefined, blockedSince: undefined, failed: undefined },
  }
  return {
    db,
    hoursPerStep: 1,
    pause: () => new Promise(resolve => setImmediate(resolve)),
    write: verb => (state.closing ? Promise.reject(closedError(state)) : enqueue(state, verb)),
    read: verb => read(state, verb),
    trouble: () => troubleOf(state),
    close() {
      // An empty write at the end of the queue: when it resolves, all earlier ones have.
      state.closing ??= enqueue(state, { statements: [], answer: () => undefined }).finally(() => db.close())
      return state.closing
    },
  }
}

/** Migrates a file to the newest schema, under the write lock. Every step is synchronous. */
export function migrateFile(db: SqliteDatabase, migrations?: readonly Migration[]): void {
  const { batch } = verbRunner(db)
  void migrate(statements => {
    db.exec('BEGIN IMMEDIATE')
    try {
      const rows = batch(statements)
      db.exec('COMMIT')
      return rows
    } catch (error) {
      rollBack(db)
      throw error
    }
  }, migrations)
}

const closedError = ({ path }: State): Error =>
  new Error(`sqliteStorage: \`${path}\` is closed. Open it again, or close it after the last request.`)

function enqueue<T>(state: State, verb: Verb<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // If the queue is not empty, a flush is already scheduled.
    if (state.waiting.length === 0) setImmediate(flushWrites, state)
    if (!state.isBursting) {
      state.isBursting = true
      queueMicrotask(() => {
        state.burst++
        state.isBursting = false
      })
    }
    state.waiting.push({ burst: state.burst, verb, resolve, reject, outcome: undefined, error: undefined })
  })
}

function flushWrites(state: State): void {
  const group = state.waiting.splice(0, groupEnd(state.waiting))
  if (!begin(state, group)) return
  try {
    for (const job of group) job.outcome = state.runner.run(job.verb)
    state.db.exec('COMMIT')
    state.failed = undefined
  } catch (error) {
    rollBack(state.db)
    noteFailure(state, error)
    if (group.length === 1) setError(group, error)
    else oneByOne(state, group)
  }
  if (state.waiting.length > 0) setImmediate(flushWrites, state)
  for (const job of group) settleJob(job)
}

/** Begins the transaction; false if the lock is taken, and the jobs wait for it without blocking the event loop. */
function begin(state: State, group: Job[]): boolean {
  try {
    state.db.exec('BEGIN IMMEDIATE')
    state.blockedSince = undefined
    return true
  } catch (error) {
    state.blockedSince ??= performance.now()
    if (isBusy(state.engine, error) && performance.now() - state.blockedSince < state.busyTimeoutMs) {
      state.waiting = [...group, ...state.waiting]
      setTimeout(flushWrites, 1, state)
      return false
    }
    state.blockedSince = undefined
    noteFailure(state, error)
    setError(group, toStorageError(state, error))
    for (const job of group) settleJob(job)
    if (state.waiting.length > 0) setImmediate(flushWrites, state)
    return false
  }
}

/** Reruns a group after one verb failed, each verb in its own savepoint, so that only that one fails. */
function oneByOne(state: State, group: readonly Job[]): void {
  const { db, runner } = state
  try {
    db.exec('BEGIN IMMEDIATE')
    for (const job of group) {
      db.exec('SAVEPOINT verb')
      try {
        job.outcome = runner.run(job.verb)
      } catch (error) {
        job.error = error
        db.exec('ROLLBACK TO verb')
      }
      db.exec('RELEASE verb')
    }
    db.exec('COMMIT')
    state.failed = undefined
  } catch (error) {
    rollBack(db)
    noteFailure(state, error)
    setError(group, toStorageError(state, error))
  }
}

function noteFailure(state: State, error: unknown): void {
  if (isBusy(state.engine, error) || isUnwritable(state.engine, error))
    state.failed = { error: toStorageError(state, error), at: performance.now() }
}

/** The end of the first group, which includes all of its last burst. */
function groupEnd(waiting: readonly Job[]): number {
  let end = Math.min(waiting.length, MAX_GROUP)
  while (end < waiting.length && waiting[end]?.burst === waiting[end - 1]?.burst) end++
  return end
}

function settleJob({ verb, outcome, error, resolve, reject }: Job): void {
  if (!outcome || error !== undefined) {
    reject(error)
    return
  }
  try {
    resolve(verb.answer(outcome.rows, outcome.verdict) as never)
  } catch (refused) {
    reject(refused)
  }
}

function setError(group: readonly Job[], error: unknown): void {
  for (const job of group) job.error = error
}

function rollBack(db: SqliteDatabase): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    // A full disk or a failed COMMIT has ended the transaction, so there is nothing to roll back.
  }
}

function read<T>(state: State, verb: Verb<T>): Awaitable<T> {
  if (state.closing) throw closedError(state)
  try {
    return readNow(state, verb)
  } catch (error) {
    if (!isBusy(state.engine, error)) throw toStorageError(state, error)
    return readOnceFree(state, verb)
  }
}

function readNow<T>({ db, runner }: State, verb: Verb<T>): T {
  if (verb.statements.length === 1) return verb.answer(runner.batch(verb.statements), undefined)
  db.exec('BEGIN')
  try {
    return verb.answer(runner.batch(verb.statements), undefined)
  } finally {
    db.exec('COMMIT')
  }
}

/** Retries until no other connection holds the lock, or the wait is too long. */
async function readOnceFree<T>(state: State, verb: Verb<T>): Promise<T> {
  const started = performance.now()
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, 1))
    try {
      return readNow(state, verb)
    } catch (error) {
      if (!isBusy(state.engine, error) || performance.now() - started > state.busyTimeoutMs) throw toStorageError(state, error)
    }
  }
}

function troubleOf({ path, blockedSince, failed }: State): Error | undefined {
  const now = performance.now()
  if (blockedSince !== undefined && now - blockedSince > reportBlockedAfterMs)
    return new Error(`sqliteStorage: \`${path}\`: another process has held the write lock for more than ${reportBlockedAfterMs} ms.`)
  return failed !== undefined && now - failed.at < reportFailureForMs ? failed.error : undefined
}

function toStorageError({ engine, path }: State, error: unknown): Error {
  const trouble = error instanceof Error ? error.message : String(error)
  const wayOut = isBusy(engine, error)
    ? 'Another process holds the write lock for too long: close it, or raise `busyTimeoutMs`.'
    : 'Check that the file and its folder can be written and the disk has room.'
  return new Error(`sqliteStorage: \`${path}\`: ${trouble}. ${wayOut}`, { cause: error })
}
