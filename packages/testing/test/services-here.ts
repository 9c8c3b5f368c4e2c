import { spawnSync } from 'node:child_process'
import { canOwnPostgres } from './own-postgres.ts'

// Which servers tests can use. A test never touches a server that a variable does not name.

/** Addresses of servers that tests may use, as `postgres://user:password@host:port/database` and `redis://host:port`. */
export const namedServers = { postgres: process.env.SIGNALBOX_TEST_POSTGRES, redis: process.env.SIGNALBOX_TEST_REDIS } as const

const isInstalled = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

/** Whether tests can start a server of their own. */
export const canStart = { postgres: canOwnPostgres, redis: isInstalled('redis-server') } as const

/** Files whose tests all need a server that cannot be had here. They are left out. */
export const filesWithoutServer: readonly string[] = [
  ...(namedServers.postgres || canStart.postgres
    ? []
    : ['packages/storage-sql/test/postgres*.test.ts', 'packages/testing/test/end-users-processes.test.ts']),
  ...(canStart.redis ? [] : ['packages/storage-redis/test/*.test.ts']),
]
