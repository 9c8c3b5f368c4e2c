import type { Connection } from './connection.ts'
import { migrate, readVersion } from './migrate.ts'
import { batchOf, type Row, type Rows, type Statement, type Verb } from './verb.ts'

// A database that is reached by messages takes a transaction as one batch of statements. A batch is sent as a whole, so a verb is one round
// trip, and processes never wait for each other in the middle of a transaction.

/** How batches are sent to a database. */
export interface BatchDriver {
  /** The function that created the storage, for messages. */
  readonly name: string
  /** Runs statements in one transaction and returns their rows. */
  batch(statements: readonly Statement[], mode: 'read' | 'write'): Promise<Rows>
  /** Whether the error means that the transaction did not begin, because another one holds the lock. */
  isBusy(error: unknown): boolean
  /** Whether the error means that the database refused a statement and rolled the batch back. */
  isUndone(error: unknown): boolean
  /** Whether verbs of several requests may share a batch. */
  readonly grouped: boolean
  /** Sets up the database before anything else. */
  readonly setUp?: () => Promise<unknown>
  close(): void
}

export interface BatchConnectionOptions {
  /** Milliseconds for a verb, including its wait for others. */
  readonly timeoutMs: number
}

/** A connection over batches. */
export interface BatchConnection extends Connection {
  ping(): Promise<void>
  close(): Promise<void>
}

interface BatchJob {
  readonly verb: Verb<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (reason: unknown) => void
}

interface RemoteState extends BatchConnectionOptions {
  readonly driver: BatchDriver
  isMigrated: boolean
  isClosed: boolean
  waiting: BatchJob[]
  running: Promise<void> | undefined
}

/** Verbs in one batch. */
const MAX_VERBS = 64
/** Hours of usage per read: rows of a day, or stored totals of a year. */
const HOURS = 24

/** Wraps a database. `openBatchConnection(driver, { timeoutMs: 10_000 }).write(verb)` */
export function openBatchConnection(driver: BatchDriver, options: BatchConnectionOptions): BatchConnection {
  const state: RemoteState = { ...options, driver, isMigrated: false, isClosed: false, waiting: [], running: undefined }
  return {
    hoursPerStep: HOURS,
    pause() {},
    write: verb => (driver.grouped ? enqueueVerb(state, verb) : inTime(state, () => runAlone(state, verb))),
    read: verb =>
      inTime(state, async () => {
        await migrateOnce(state)
        return verb.answer(await runBatch(state, verb.statements, 'read'), undefined)
      }),
    ping: () =>
      inTime(state, async () => {
        await migrateOnce(state)
        const [rows] = await driver.batch(readVersion.statements, 'read')
        if (rows?.length === 0) throw new Error('the database has lost its tables')
      }),
    async close() {
      state.isClosed = true
      while (state.running) await state.running
      driver.close()
    },
  }
}

/** Stores the state instead of the promise: on Workers, a promise of one request cannot wake another. */
async function migrateOnce(state: RemoteState): Promise<void> {
  if (state.isMigrated) return
  await state.driver.setUp?.()
  await migrate(statements => runBatch(state, statements, 'write'))
  state.isMigrated = true
}

async function runAlone<T>(state: RemoteState, verb: Verb<T>): Promise<T> {
  await migrateOnce(state)
  const { statements, answer } = batchOf(verb)
  return answer(await runBatch(state, statements, 'write'), undefined)
}

/** Milliseconds between two tries to get the lock. */
const BUSY_PAUSE_MS = 5

/** Retries a batch that did not begin. Any other failure may have had an effect and is not retried. */
async function runBatch({ driver, timeoutMs }: RemoteState, statements: readonly Statement[], mode: 'read' | 'write'): Promise<Rows> {
  if (statements.length === 0) return []
  for (let waited = 0; ; waited += BUSY_PAUSE_MS) {
    try {
      return await driver.batch(statements, mode)
    } catch (error) {
      if (!driver.isBusy(error) || waited >= timeoutMs) throw error
      await new Promise(resolve => setTimeout(resolve, BUSY_PAUSE_MS))
    }
  }
}

/** Verbs of one turn, and those that arrive while a batch is running, share a batch. */
function enqueueVerb<T>(state: RemoteState, verb: Verb<T>): Promise<T> {
  return inTime(
    state,
    () =>
      new Promise<T>((resolve, reject) => {
        state.waiting.push({ verb, resolve, reject })
        state.running ??= Promise.resolve().then(() => runWaiting(state))
      }),
  )
}

async function runWaiting(state: RemoteState): Promise<void> {
  while (state.waiting.length > 0) {
    const jobs = state.waiting.splice(0, MAX_VERBS)
    try {
      await runGroup(state, jobs)
    } catch (error) {
      if (jobs.length > 1 && state.driver.isUndone(error)) for (const job of jobs) await runGroup(state, [job]).catch(job.reject)
      else for (const { reject } of jobs) reject(error)
    }
  }
  // In the same step as the last check of the queue, so that a verb that arrives now starts a new run.
  state.running = undefined
}

async function runGroup(state: RemoteState, jobs: readonly BatchJob[]): Promise<void> {
  await migrateOnce(state)
  const batches = jobs.map(({ verb }) => batchOf(verb))
  const rows = await runBatch(
    state,
    batches.flatMap(({ statements }) => statements),
    'write',
  )
  let begin = 0
  for (const [index, { statements, answer }] of batches.entries()) {
    settleWith(jobs[index], () => answer(rows.slice(begin, begin + statements.length), undefined))
    begin += statements.length
  }
}

function settleWith(job: BatchJob | undefined, answer: () => unknown): void {
  try {
    job?.resolve(answer() as never)
  } catch (refused) {
    job?.reject(refused)
  }
}

/** Fails after `timeoutMs`, whatever the database does. */
async function inTime<T>(state: RemoteState, run: () => Promise<T>): Promise<T> {
  const { driver, timeoutMs, isClosed } = state
  if (isClosed) throw new Error(`${driver.name}: the storage is closed. Open it again, or close it after the last request.`)
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms; the change may have been made`)), timeoutMs)
  })
  try {
    return await Promise.race([run(), late])
  } catch (error) {
    throw toStorageError(driver, error)
  } finally {
    clearTimeout(timer)
  }
}

/** Argument errors are unchanged. */
function toStorageError({ name }: BatchDriver, error: unknown): Error {
  if (error instanceof RangeError) return error
  const trouble = error instanceof Error ? error.message : String(error)
  return new Error(`${name}: ${trouble}. Check that the database exists, can be reached and has room.`, { cause: error })
}

/** Rows keyed by column name, for drivers that return lists. */
export const namedRows = (columns: readonly string[], rows: readonly ArrayLike<unknown>[]): readonly Row[] =>
  rows.map(row => Object.fromEntries(columns.map((column, index) => [column, row[index]])))
