import type { PostgresPool } from './client.ts'

interface PoolOptions {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly prepare: boolean
}

/** Creates a function that makes the pool of a connection string once, at the first call. `await createPool('postgres://…', options)()` */
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
    // Poolers refuse parameters of a connection that they do not know; there the bound is the client's alone.
    ...(prepare && { statement_timeout: statementTimeoutMs }),
  })
  // An idle connection that is lost is replaced by the next one. Without a listener it would end the process.
  pool.on('error', () => undefined)
  return pool as unknown as PostgresPool
}

/** The password in a connection string, as it stands there and decoded. `secretsOf('postgres://me:pass%20word@host/db')` */
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
