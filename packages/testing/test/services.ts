import { spawnSync } from 'node:child_process'
import { connect } from 'node:net'
import { describe } from 'vitest'

// Tests that need a server on this machine. Without it they are skipped, and the report shows them as skipped; with
// SIGNALBOX_REQUIRE_SERVICES=1 they run, and fail.

/** Servers that tests may use, where they usually listen. */
export const services = {
  redis: { host: '127.0.0.1', port: 6379 },
  postgres: { host: '127.0.0.1', port: 5432 },
} as const

/** Whether something listens on a port. */
const isListening = ({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect({ host, port, timeout: 2_000 })
    const end = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })

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
