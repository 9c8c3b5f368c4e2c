import { nodeTransport, serve as serveGateway } from '@signalbox/node-http'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { testGateway } from '@signalbox/testing'
import { serve } from '../ipc.ts'

/** The gateway on a SQLite file (its only argument), in front of two providers of which the first may fail. */
export type SoakVerbs = {
  listen: (input: { readonly upstream: string }) => Promise<{ readonly url: string; readonly authorization: string }>
  /** Bytes, after a collection. */
  memory: (input: Record<string, never>) => { readonly heap: number; readonly rss: number }
  /** Work and state that is left. All values are 0 when idle. */
  left: (input: Record<string, never>) => Promise<Left>
  close: (input: Record<string, never>) => Promise<void>
  /** Connections of this process, to clients and to providers. */
  sockets: (input: Record<string, never>) => number
}

export interface Left {
  readonly holds: number
  readonly held: number
  readonly slots: number
  /** Microdollars by which the sum of the entries differs from the balance. */
  readonly unbooked: number
}

const [, , file = ''] = process.argv
const storage = sqliteStorage(file)
let testbed: Awaited<ReturnType<typeof testGateway>> | undefined
let server: Awaited<ReturnType<typeof serveGateway>> | undefined

async function left(): Promise<Left> {
  if (!testbed) throw new Error('It does not listen yet.')
  const { gateway, caller } = testbed
  const holds = await storage.ledger.holds({ limit: 1_000 })
  const { balance, held } = await gateway.workspaces(caller.workspaceId).billing.balance()
  let sum = 0
  for (let before: string | undefined; ; ) {
    const entries = await storage.ledger.entries(`credit:${caller.workspaceId}`, { limit: 10_000, ...(before !== undefined && { before }) })
    sum = entries.reduce((total, { amount }) => total + amount, sum)
    before = entries.at(-1)?.id
    if (before === undefined) break
  }
  const isFree = await storage.counters.enter(
    { key: `${caller.workspaceId}/slots:${caller.keyId}`, slot: 'soak', limit: 1, ttlMs: 1 },
    Date.now(),
  )
  return { holds: holds.length, held, slots: isFree ? 0 : 1, unbooked: sum - balance }
}

serve({
  async listen({ upstream }) {
    testbed = await testGateway({
      servers: [{ baseURL: upstream }, { baseURL: upstream }],
      dialect: 'chat',
      storage,
      transport: nodeTransport(),
      credit: 1_000_000_000_000,
      timeouts: { firstByteMs: 1_500, wholeMs: 1_500, idleMs: 1_000, deadlineMs: 5_000 },
      limits: { inferenceRpm: 1_000_000, concurrentRequests: 10_000 },
      // Full within the warm-up, so that what grows later is no cache that fills.
      storedItems: { maxTotalBytes: 4_000_000 },
    })
    server = await serveGateway(testbed.gateway, { port: 0 })
    return { url: server.url, authorization: `Bearer ${testbed.secret}` }
  },
  memory: () => {
    globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    return { heap: heapUsed + external, rss }
  },
  left,
  close: async () => {
    await server?.close()
    await testbed?.close()
  },
  sockets: () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length,
} satisfies SoakVerbs)
