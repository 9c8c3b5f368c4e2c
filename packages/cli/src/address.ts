import { createServer } from 'node:net'
import { StartError, shown } from './fault.ts'
import type { Config } from './schema.ts'

/** The address the server listens on. */
export type Address = Pick<Config, 'host' | 'port'>

/**
 * Checks that the server can listen on the address, before anything is created.
 *
 * @throws {StartError} Names the address and what to change.
 */
export function checkAddress(address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer(socket => socket.destroy())
    probe.once('error', error => reject(listenError(error, address)))
    probe.listen(address.port, address.host, () => probe.close(() => resolve()))
  })
}

const listenAdvice: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; stop the other program, or set another `port` (PORT)',
  EACCES: 'may not be used by this user; set a `port` (PORT) above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine; set `host` (HOST) to an address of this machine',
  ENOTFOUND: 'has an unknown host name; set `host` (HOST) to an address of this machine',
}

/** The one-line error of an address that cannot be used. */
export function listenError(error: unknown, { host, port }: Address): StartError {
  const { code = '', message } = error as NodeJS.ErrnoException
  return new StartError(`Port ${port} on ${shown(host, 'host').slice(1, -1)} ${listenAdvice[code] ?? `cannot be listened on: ${message}`}.`)
}
