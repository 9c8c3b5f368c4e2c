import { performance } from 'node:perf_hooks'

/** A result row: values by column. int8 may be text, number or bigint. */
export type SqlRow = Readonly<Record<string, unknown>>

/** One statement. Parameters are `$1`, `$2`, …; arrays are passed as text. */
export interface SqlStatement {
  readonly text: string
  readonly values: readonly unknown[]
  /** The name under which the connection prepares it. Absent: not prepared. */
  readonly name?: string | undefined
}

/** The PostgreSQL connection that the store needs: each `run` is one statement and one transaction. */
export interface PostgresClient {
  /** Whether several statements can run at the same time. */
  readonly isConcurrent: boolean
  /** A signal may abort a statement: it fails, and its connection is closed. */
  run(statement: SqlStatement, signal?: AbortSignal): Promise<readonly SqlRow[]>
  /** Runs texts of one or more statements in one transaction on one connection. */
  transaction(work: (run: (text: string) => Promise<readonly SqlRow[]>) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** A pool of `pg`, such as `new Pool(…)`. */
export interface PostgresPool {
  connect(): Promise<PostgresPoolClient>
  end(): Promise<void>
  on?(event: 'error', listener: (error: Error) => void): unknown
  /** The settings of the pool, as `pg` has them. */
  readonly options?: { readonly max?: number | undefined }
}

/** A connection acquired from a pool. */
export interface PostgresPoolClient {
  query(config: {
    readonly text: string
    readonly values?: unknown[]
    readonly name?: string | undefined
  }): Promise<{ readonly rows: readonly SqlRow[] }>
  release(destroy?: boolean | Error): void
  on?(event: 'error', listener: (error: Error) => void): unknown
}

/** One connection that runs one statement at a time, such as PGlite. */
export interface PostgresSingleClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  /** Runs a text of several statements. */
  exec(text: string): Promise<readonly { readonly rows: readonly unknown[] }[]>
}

/** The error of a statement that was sent but whose response was lost. */
class LostAnswerError extends Error {
  override readonly name = 'LostAnswerError'
}

/** The error of a statement that was not sent. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError'
}

/** Milliseconds of silence after which a server is probed, and the time that the probe has. */
export const silenceMs = 1_500

/** The error of a statement that was given up or not sent because the server is silent. */
export class UnresponsiveServerError extends Error {
  override readonly name = 'UnresponsiveServerError'
  constructor() {
    super(`the server has not responded for ${(2 * silenceMs) / 1_000} s`)
  }
}

/** Runs statements over a pool. A statement that takes longer than `timeoutMs` fails, and its connection is closed. */
export function poolClient(
  pool: () => Promise<PostgresPool>,
  { timeoutMs, owned }: { readonly timeoutMs: number; readonly owned: boolean },
): PostgresClient {
  const listened = new WeakSet<PostgresPoolClient>()
  const lend = async (signal?: AbortSignal): Promise<PostgresPoolClient> => {
    try {
      const connection = await (await pool()).connect()
      // A lost connection fails its statement. Without a listener, it would also crash the process.
      if (!listened.has(connection)) connection.on?.('error', () => undefined)
      listened.add(connection)
      if (!signal?.aborted) return connection
      connection.release()
      throw new Error('cancelled before it was sent')
    } catch (error) {
      throw new NotSentError(errorMessage(error), { cause: error })
    }
  }
  return {
    isConcurrent: true,
    async run({ text, values, name }, signal) {
      const connection = await lend(signal)
      let isBroken = true
      try {
        const pending = connection.query({ text, values: values as unknown[], name })
        const { rows } = await within(pending, timeoutMs, signal)
        isBroken = false
        return rows
      } catch (error) {
        isBroken = !isUsableAfter(error)
        throw error
      } finally {
        connection.release(isBroken)
      }
    },
    async transaction(work) {
      const connection = await lend()
      const run = async (text: string): Promise<readonly SqlRow[]> => {
        const answer = await within(connection.query({ text }), timeoutMs)
        return Array.isArray(answer) ? [] : answer.rows
      }
      try {
        await run('BEGIN')
        await work(run)
        await run('COMMIT')
        connection.release()
      } catch (error) {
        // Closing the connection rolls back.
        connection.release(true)
        throw error
      }
    },
    close: async () => (owned ? (await pool()).end() : undefined),
  }
}

/** Runs statements one after another over a single connection, which its owner closes. */
export function singleClient(client: PostgresSingleClient, { timeoutMs }: { readonly timeoutMs: number }): PostgresClient {
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const next = last.then(run, run)
    last = next.catch(() => undefined)
    return next
  }
  return {
    isConcurrent: false,
    run: ({ text, values }) => inTurn(async () => (await within(client.query(text, [...values]), timeoutMs)).rows as readonly SqlRow[]),
    transaction: work =>
      inTurn(async () => {
        const run = async (text: string): Promise<readonly SqlRow[]> => ((await client.exec(text)).at(-1)?.rows ?? []) as readonly SqlRow[]
        await run('BEGIN')
        try {
          await work(run)
          await run('COMMIT')
        } catch (error) {
          await run('ROLLBACK')
          throw error
        }
      }),
    close: async () => undefined,
  }
}

/** Rejects if a promise takes too long or is aborted; the underlying work continues. */
async function within<T>(promise: Promise<T>, timeoutMs: number, signal?: AbortSignal): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const began = performance.now()
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LostAnswerError(`no answer within ${Math.round(performance.now() - began)} ms`)), timeoutMs)
    signal?.addEventListener('abort', () => reject(new LostAnswerError('given up')), { once: true })
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
    // A late failure was already reported.
    promise.catch(() => undefined)
  }
}

/**
 * Whether a connection can be reused after an error: the error came from the server and was not FATAL, which ends the connection. A
 * read-only server (25006) stays read-only for its connections, while a new connection may reach its replacement.
 */
function isUsableAfter(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== undefined && state !== '25006' && (error as { severity?: unknown }).severity !== 'FATAL'
}

/** The five-character SQLSTATE. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined
}

export const errorMessage = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : String((error as { code?: unknown })?.code ?? error)
