import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'

/** A Redis of a test, in a process of its own. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly child: ChildProcess
  /** Runs commands over a connection that is closed afterwards. */
  admin<T>(run: (redis: Redis) => Promise<T>): Promise<T>
  /** Sends a signal: SIGSTOP for a server that hangs, SIGKILL for one that is gone. Resolves once it has ended, if it does. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Starts it again on the same port, without its data. */
  restart(): Promise<void>
}

export interface RedisServerOptions {
  readonly port?: number
  readonly args?: readonly string[]
  readonly password?: string
}

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  server.close()
  await once(server, 'close')
  // The bus of a cluster node listens 10,000 higher.
  return port < 55_000 ? port : freePort()
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** Starts a server on a free port in an empty directory; both are gone after the test, or when `stop` is called. */
export async function startRedis({
  port: given,
  args = [],
  password,
}: RedisServerOptions = {}): Promise<RedisServer & { stop(): Promise<void> }> {
  const port = given ?? (await freePort())
  const dir = mkdtempSync(join(tmpdir(), 'redis-'))
  const auth = password === undefined ? [] : ['--requirepass', password]
  const start = (): ChildProcess =>
    spawn(
      'redis-server',
      ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no', ...auth, ...args],
      {
        stdio: 'ignore',
      },
    )
  const url = `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`
  const admin = async <T>(run: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: 2_000 })
    redis.on('error', () => {})
    try {
      return await run(redis)
    } finally {
      redis.disconnect()
    }
  }
  const ready = (): Promise<unknown> => admin(redis => redis.ping())
  // An interrupted process does not call `stop`.
  const endNow = (): void => {
    server.child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
  process.once('exit', endNow)
  const server = {
    port,
    url,
    child: start(),
    admin,
    async signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL' | 'SIGTERM') {
      const { child } = server
      child.kill(name)
      if ((name === 'SIGKILL' || name === 'SIGTERM') && !hasEnded(child)) await once(child, 'exit')
    },
    async restart() {
      server.child = start()
      await ready()
    },
    async stop() {
      process.off('exit', endNow)
      server.child.kill('SIGCONT')
      if (!hasEnded(server.child)) await server.signal('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await ready()
  return server
}

/** A server that ends with the test. */
export async function testRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

/** A cluster of three nodes without replicas, and what ends it. */
export async function startCluster(): Promise<{
  readonly servers: readonly RedisServer[]
  readonly urls: readonly string[]
  stop(): Promise<void>
}> {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
  const servers = await Promise.all([0, 1, 2].map(() => startRedis({ args })))
  const [first] = servers
  for (const [place, server] of servers.entries())
    await server.admin(async redis => {
      const [from, to] = [Math.floor((16_384 * place) / 3), Math.floor((16_384 * (place + 1)) / 3) - 1]
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', place + 1)
      if (first && server !== first) await redis.call('CLUSTER', 'MEET', '127.0.0.1', first.port)
    })
  for (const server of servers)
    await server.admin(async redis => {
      for (let tries = 0; !String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok'); tries++) {
        if (tries > 2_000) throw new Error('The cluster did not come up.')
        await new Promise(resolve => setTimeout(resolve, 50))
      }
    })
  return {
    servers,
    urls: servers.map(({ url }) => url),
    stop: async () => void (await Promise.all(servers.map(server => server.stop()))),
  }
}
