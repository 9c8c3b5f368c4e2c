import type { PostgresPool } from './client.ts'

interface PoolOptions {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly prepare: boolean
}

/** Creates a function that creates the pool of a connection string on its first call. `await createPool('postgres://…', options)()` */
export function createPool(url: string, options: PoolOptions): () => Promise<PostgresPool> {
  let pool: Promise<PostgresPool> | undefined
  return () => {
    pool ??= openPool(url, options).catch(error => {
      pool = undefined
      throw error
    })
    return pool
  }
}

async function openPool(url: string, { connections, connectTimeoutMs, statementTimeoutMs, prepare }: PoolOptions): Promise<PostgresPool> {
  const { default: pg } = await import('pg').catch(error => {
    throw new RangeError('postgresStorage: the package `pg` is not installed. Install it, or pass a pool or a client.', { cause: error })
  })
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'signalbox',
    // Poolers reject connection parameters that they do not know; the client-side limit still applies there.
    ...(prepare && { statement_timeout: statementTimeoutMs }),
  })
  // A lost idle connection is replaced on demand. Without a listener, it would crash the process.
  pool.on('error', () => undefined)
  return pool as unknown as PostgresPool
}

/** The password in a connection string, encoded and decoded. `secretsOf('postgres://me:pass%20word@host/db')` */
export function secretsOf(url: string): readonly string[] {
  const written = [/^[a-z]+:\/\/[^/@]*?:([^@]*)@/i.exec(url)?.[1], /[?&]password=([^&]*)/i.exec(url)?.[1]]
  const found = written.flatMap(secret => (secret ? [secret, decoded(secret)] : []))
  return [...new Set([...found, ...found.map(encodeURIComponent)])]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
