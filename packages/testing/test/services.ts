import { describe, inject } from 'vitest'
import { canStart } from './services-here.ts'

// The servers that tests use. They were started for them, or variables name them (`services-setup.ts`).

/** The database in which tests make schemas of their own. */
export const postgresUrl: string = inject('postgresUrl')
/** The server in which tests have prefixes of their own. */
export const redisUrl: string = inject('redisUrl')

const portOf = (url: string): number => (url === '' ? 0 : Number(new URL(url).port))

/** Their ports on 127.0.0.1. */
export const services = { redis: { port: portOf(redisUrl) }, postgres: { port: portOf(postgresUrl) } } as const

/** The database of the server, also on the way through another port. */
export function postgresUrlAt(port: number): string {
  const url = new URL(postgresUrl)
  url.port = String(port)
  return url.href
}

/** The database for another role. */
export function postgresUrlAs(role: string, password: string): string {
  const url = new URL(postgresUrl)
  url.username = role
  url.password = password
  return url.href
}

const isHere = { postgres: postgresUrl !== '', redis: redisUrl !== '', 'redis-server': canStart.redis } as const

/** `describe` where the service is, or the program that the tests start; else it declares nothing. */
export const describeWith = (needed: keyof typeof isHere): typeof describe => (isHere[needed] ? describe : declareNothing)

const declareNothing = Object.assign(() => {}, { each: () => () => {}, for: () => () => {} }) as unknown as typeof describe
