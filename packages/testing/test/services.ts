import { spawnSync } from 'node:child_process'
import { describe, inject } from 'vitest'
import { isListening } from './is-listening.ts'

// Tests that need a server on this machine. Without it they are skipped, and the report shows them as skipped; with
// SIGNALBOX_REQUIRE_SERVICES=1 they run, and fail.

/** Servers that tests may use. PostgreSQL may have been started for them (`postgres-server.ts`). */
export const services = {
  redis: { host: '127.0.0.1', port: 6379 },
  postgres: { host: '127.0.0.1', port: inject('postgresPort') },
} as const

/** The database of the server, also on the way through another port. */
export const postgresUrlAt = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`
export const postgresUrl: string = postgresUrlAt(services.postgres.port)

/** Whether a program can be started. */
const isInstalled = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

/**
 * `describe`, if the service runs, or the program that the tests start is installed, or it has to be there; else `describe.skip`.
 *
 * @example
 * const describeRedis = await describeWith('redis')
 */
export async function describeWith(needed: keyof typeof services | 'redis-server'): Promise<typeof describe | typeof describe.skip> {
  if (process.env.SIGNALBOX_REQUIRE_SERVICES === '1') return describe
  const isThere = needed === 'redis-server' ? isInstalled(needed) : await isListening(services[needed])
  return isThere ? describe : describe.skip
}
