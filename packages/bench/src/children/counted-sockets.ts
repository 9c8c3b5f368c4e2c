import { nodeTransport, serve as serveGateway } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { openBenchGateway } from '../bench-gateway.ts'
import { type FunctionCalls, openCoverage } from '../counts/coverage.ts'
import { type Counts, heapAfterYoungCollections, makeInstruments, settled } from '../counts/instruments.ts'
import { serve } from '../ipc.ts'

/** A gateway behind sockets, as users run it on Node, that counts its work. */
export type SocketVerbs = {
  listen: (input: { readonly upstream: string }) => Promise<{ readonly port: number; readonly authorization: string }>
  startCounts: (input: Record<string, never>) => void
  stopCounts: (input: Record<string, never>) => Promise<Counts>
  /** Bytes of V8's heap and external memory after a collection. */
  heap: (input: Record<string, never>) => Promise<number>
  /** Bytes of V8's heap after young-generation collections only. */
  heapOfYoung: (input: Record<string, never>) => Promise<number>
  startCoverage: (input: Record<string, never>) => Promise<void>
  /** The calls since the start or the previous call, once no work is left. */
  takeCoverage: (input: Record<string, never>) => Promise<FunctionCalls>
}

const instruments = makeInstruments()
const coverage = openCoverage()

serve({
  async listen({ upstream }) {
    const { gateway, authorization } = await openBenchGateway({
      upstream,
      storage: memoryStorage(),
      transport: nodeTransport(),
      isRepeatable: true,
    })
    const { port } = await serveGateway(gateway, { port: 0, onRequest: () => {} })
    return { port, authorization }
  },
  startCounts: () => instruments.start(),
  async stopCounts() {
    await settled()
    return instruments.stop()
  },
  async heap() {
    for (let round = 0; round < 3; round += 1) {
      await settled()
      globalThis.gc?.()
    }
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  },
  heapOfYoung: () => heapAfterYoungCollections(),
  startCoverage: () => coverage.start(),
  async takeCoverage() {
    await settled()
    return coverage.take()
  },
} satisfies SocketVerbs)
