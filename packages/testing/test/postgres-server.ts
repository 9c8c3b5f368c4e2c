import type { TestProject } from 'vitest/node'
import { isListening } from './is-listening.ts'
import { canOwnPostgres, ownPostgres } from './own-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests find PostgreSQL on 127.0.0.1. */
    postgresPort: number
  }
}

const usualPort = 5_432

/** Starts PostgreSQL for the tests of a project if none runs on this machine and its programs are there. They end with the tests. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  project.provide('postgresPort', usualPort)
  if (process.env.SIGNALBOX_REQUIRE_SERVICES === '1' || (await isListening({ host: '127.0.0.1', port: usualPort }))) return undefined
  if (!canOwnPostgres) return undefined
  const server = await ownPostgres()
  project.provide('postgresPort', Number(new URL(server.url).port))
  return server.remove
}
