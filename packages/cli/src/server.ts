import { createServer } from 'node:net'
import { createGateway, type Gateway } from '@signalbox/core'
import { type NodeTransport, nodeTransport, type Served, type ServeOptions, serve } from '@signalbox/node-http'
import type { Storage } from '@signalbox/storage'
import { announce } from './announce.ts'
import { firstKey, makeWorkspace } from './bootstrap.ts'
import type { Environment } from './environment.ts'
import { StartError, shown } from './fault.ts'
import { createLog, type Log, type Sink } from './log.ts'
import { type ModelsOn, modelsOf } from './models.ts'
import { providersOf } from './providers.ts'
import type { Config } from './schema.ts'
import { sealingKeyFor } from './sealing-key.ts'
import { simulatedProviders } from './simulation.ts'
import { openStorage, placeOf } from './storage.ts'

export interface Starting {
  readonly environment: Environment
  readonly version: string
  /** Where log lines go. */
  readonly sink: Sink
}

export interface Running {
  readonly port: number
  /** What to tell the operator. */
  readonly announcement: string
  /** Takes no new work; what runs gets `graceMs` to end, then ends in an error of its own; everything is settled. */
  stop(options: { readonly graceMs: number }): Promise<void>
}

/** Checks everything that can be checked, then opens, then listens: a start that fails leaves nothing behind. */
export async function start(config: Config, { environment, version, sink }: Starting): Promise<Running> {
  const found = providersOf(config, environment)
  const simulated = found.providers.length === 0
  const { providers, models, facts, notices } = modelsOf(config, simulated ? simulatedProviders() : found.providers)
  const place = placeOf(config)
  await checkAddress(config)
  const sealing = sealingKeyFor(place, config.sealing_key)
  const storage = await openStorage(place).catch((error: unknown) => {
    sealing.undo()
    throw error
  })
  const transport = nodeTransport()
  const log = createLog(sink)
  const closing = { storage, transport, log }
  // Also where the process ends by an error that nothing caught: Node reports it after this.
  process.once('exit', log.flush)
  try {
    const gateway = gatewayOf(config, { providers, models, facts, storage, transport, log, sealingKey: sealing.key })
    const bootstrapping = { gateway, storage, config }
    const workspaceId = await makeWorkspace(bootstrapping)
    const served = await listen(gateway, config, log)
    // Only now: a key that was made and could not be shown would lock everybody out.
    const secret = await firstKey(bootstrapping, workspaceId)
    return {
      port: served.port,
      announcement: announce({
        version,
        host: config.host,
        port: served.port,
        providers,
        models,
        simulated,
        storage: config.storage,
        sealingKeyFile: sealing.made,
        secret,
        notices: [...found.notices, ...notices],
      }),
      stop: ({ graceMs }) => stop({ gateway, served, ...closing }, graceMs),
    }
  } catch (error) {
    await close(closing)
    throw error
  }
}

interface Parts extends Pick<ModelsOn, 'providers' | 'models' | 'facts'> {
  readonly storage: Storage
  readonly transport: NodeTransport
  readonly log: Log
  readonly sealingKey: Uint8Array
}

function gatewayOf({ operator, strategy, record, limits, timeouts }: Config, { storage, log, ...parts }: Parts): Gateway {
  return createGateway({
    ...parts,
    // The books stay open until the last reply is written, so closing them is the server's business.
    storage: { ...storage, close: async () => {} },
    operator,
    strategy,
    record,
    logger: log.logger,
    limits: {
      inferenceRpm: limits.inference_rpm,
      managementReadsRpm: limits.management_reads_rpm,
      managementWritesRpm: limits.management_writes_rpm,
      concurrentRequests: limits.concurrent_requests,
      ...(limits.tokens_per_minute !== undefined && { tokensPerMinute: limits.tokens_per_minute }),
      workspace: workspaceLimits(limits.workspace),
    },
    timeouts: {
      firstByteMs: timeouts.first_byte_ms,
      wholeMs: timeouts.whole_ms,
      deadlineMs: timeouts.deadline_ms,
      idleMs: timeouts.idle_ms,
    },
  })
}

const workspaceLimits = ({
  requests_per_minute: requestsPerMinute,
  tokens_per_minute: tokensPerMinute,
  concurrent_requests: concurrentRequests,
}: Config['limits']['workspace']) => ({
  ...(requestsPerMinute !== undefined && { requestsPerMinute }),
  ...(tokensPerMinute !== undefined && { tokensPerMinute }),
  ...(concurrentRequests !== undefined && { concurrentRequests }),
})

const listen = (gateway: Gateway, config: Config, { onRequest }: Log): Promise<Served> =>
  serve(gateway, {
    host: config.host,
    port: config.port,
    bodyBytes: config.limits.body_bytes,
    ...uploadLimits(config),
    onRequest,
  }).catch((error: unknown) => {
    throw unlistenable(error, config)
  })

const uploadLimits = ({ limits, timeouts }: Config): Partial<ServeOptions> => ({
  ...(limits.upload_bytes_per_key !== undefined && { uploadBytesPerKey: limits.upload_bytes_per_key }),
  ...(limits.upload_bytes !== undefined && { uploadBytes: limits.upload_bytes }),
  ...(limits.upload_bytes_per_second !== undefined && { bodyBytesPerSecond: limits.upload_bytes_per_second }),
  ...(timeouts.upload_idle_ms !== undefined && { bodyIdleMs: timeouts.upload_idle_ms }),
  ...(timeouts.drain_ms !== undefined && { drainMs: timeouts.drain_ms }),
})

/** Before anything is made: can we listen there at all? */
function checkAddress(config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer(socket => socket.destroy())
    probe.once('error', error => reject(unlistenable(error, config)))
    probe.listen(config.port, config.host, () => probe.close(() => resolve()))
  })
}

const wayOut: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; stop what listens there, or set another `port` (PORT)',
  EACCES: 'may not be used by this user; set a `port` (PORT) above 1023',
  EADDRNOTAVAIL: 'is no address of this machine; set `host` (HOST) to one that is',
  ENOTFOUND: 'has a host that nobody knows; set `host` (HOST) to an address of this machine',
}

function unlistenable(error: unknown, { host, port }: Config): StartError {
  const { code = '', message } = error as NodeJS.ErrnoException
  return new StartError(`Port ${port} on ${shown(host, 'host').slice(1, -1)} ${wayOut[code] ?? `cannot be listened on: ${message}`}.`)
}

interface Closing {
  readonly storage: Storage
  readonly transport: NodeTransport
  readonly log: Log
}

/** How long the last bytes of what has ended may take to be written. */
const flushMs = 2_000

/**
 * The gateway refuses first while the door stays open, so that `readyz` can tell a load balancer; then the door closes,
 * then the books.
 */
async function stop({ gateway, served, ...closing }: { readonly gateway: Gateway; readonly served: Served } & Closing, graceMs: number) {
  await gateway.close({ graceMs })
  await served.close({ graceMs: flushMs })
  await close(closing)
}

async function close({ storage, transport, log }: Closing): Promise<void> {
  try {
    await storage.close()
    await transport.close()
  } finally {
    log.flush()
    process.off('exit', log.flush)
  }
}
