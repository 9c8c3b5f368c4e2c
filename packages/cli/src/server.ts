import { setTimeout as sleep } from 'node:timers/promises'
import { type CodeNames, roundUsd, withCodeNames } from '@signalbox/dialects/protocol'
import type { GatewayOptions } from '@signalbox/gateway'
import { createGateway, type Gateway } from '@signalbox/gateway'
import type { ServeOptions } from '@signalbox/node-http'
import { type NodeTransport, nodeTransport, type RunningServer, serve } from '@signalbox/node-http'
import type { Storage } from '@signalbox/storage'
import type { ChangeChannel } from '@signalbox/storage/compose'
import { checkAddress, listenError } from './address.ts'
import { firstKey, makeWorkspace } from './bootstrap.ts'
import { ageNotices } from './catalog.ts'
import type { Environment } from './environment.ts'
import { createLog, type Log, type Sink } from './log.ts'
import { type ModelSetup, modelsOf } from './models.ts'
import { outgoingOptions, shownProxy } from './outgoing.ts'
import { providersOf } from './providers.ts'
import { type Config, gatewayLimits, serverLimits, webSocketLimits } from './schema.ts'
import { gatewayTimeouts, serverTimeouts } from './schema-timeouts.ts'
import { sealingKeyFor } from './sealing-key.ts'
import { simulatedProviders } from './simulation.ts'
import { announcementText } from './start-message.ts'
import { namedStorage, openStorages, shownRedis } from './storage.ts'
import { takeCatalog, watchCatalog } from './watch-catalog.ts'
import { hasPrimary, workerCount } from './workers/worker-count.ts'

/** Input of a start other than the config. */
export interface StartContext {
  readonly environment: Environment
  readonly version: string
  /** Where log lines are written. */
  readonly sink: Sink
  /** Set for one of several processes that share the port. */
  readonly worker?: WorkerRole
}

/** The role of a worker. */
interface WorkerRole {
  /** Its number in log lines. */
  readonly id: number
  /** Whether it initializes a new storage; the others start after it. */
  readonly isFirst: boolean
  /** The channel to the other workers. */
  readonly channel: ChangeChannel
}

/** A running server. */
export interface StandaloneServer {
  readonly port: number
  /** Text for the operator. */
  readonly announcement: string
  /** Whether the text shows a key, or its location, that this start created. */
  readonly showsKeys: boolean
  /** Reloads the catalog file. `logs`: whether this worker logs the result; of several, one does. */
  reloadCatalog(options: { readonly logs: boolean }): void
  /** Stops listening and serves the open connections until each has ended or was idle for long; after `graceMs` it stops. */
  drain(options: { readonly graceMs: number }): Promise<void>
  /** Rejects new requests, gives running ones `graceMs` to finish, then aborts and settles them. */
  stop(options: { readonly graceMs: number }): Promise<void>
}

/**
 * First checks everything that can be checked, then opens the storage, then listens, so that a failed start leaves nothing behind.
 *
 * @throws {StartError} Names what is wrong and how to fix it.
 */
export async function start(config: Config, { environment, version, sink, worker }: StartContext): Promise<StandaloneServer> {
  const found = providersOf(config, environment)
  const simulated = found.providers.length === 0
  const on = simulated ? simulatedProviders() : found.providers
  const { providers, models, facts, notices } = modelsOf(config, on)
  const named = namedStorage(config.storage)
  const outgoing = outgoingOptions(config.tls, environment)
  // With workers, the primary has already checked it.
  if (!worker) await checkAddress(config)
  const sealing = sealingKeyFor(named, config.sealing_key)
  const log = createLog(sink, { worker: worker?.id })
  const companions = { redis: config.redis, channel: worker?.channel, logger: log.logger, workers: worker && workerCount(config) }
  const storage = await openStorages(named, companions).catch((error: unknown) => {
    sealing.undo()
    throw error
  })
  const transport = nodeTransport(outgoing)
  const resources = { storage, transport, log }
  // Also if the process ends by an uncaught error, which Node reports after this.
  process.once('exit', log.flush)
  try {
    const gateway = gatewayFor(config, { providers, models, facts, storage, transport, log, sealingKey: sealing.key })
    const bootstrap = { gateway, storage, config, logger: log.logger }
    const isFirst = worker?.isFirst ?? true
    const workspaceId = isFirst ? await makeWorkspace(bootstrap) : ''
    const served = await listen(gateway, config, log)
    // Last, because the key's secret is only known now: a created key that was not shown could not be used.
    const secret = isFirst ? await firstKey(bootstrap, workspaceId) : undefined
    const load = () => modelsOf(config, on).models
    const catalog = { catalog: config.catalog, load, replace: gateway.models.replace, logger: log.logger }
    return {
      port: served.port,
      announcement: announcementText({
        version,
        host: config.host,
        port: served.port,
        providers,
        models,
        simulated,
        workers: worker && workerCount(config),
        storage: named.shown,
        redis: shownRedis(config.redis),
        proxy: outgoing.proxy && shownProxy(outgoing.proxy),
        sealingKeyFile: sealing.made,
        secret,
        notices: [...found.notices, ...notices, ...(simulated ? [] : ageNotices(config.catalog, Date.now()))],
      }),
      showsKeys: secret !== undefined || sealing.made !== undefined,
      reloadCatalog: ({ logs }) => takeCatalog(logs ? catalog : { ...catalog, logger: silentLogger }),
      ...stopping({ gateway, served, timeouts: config.timeouts, unwatch: worker ? () => {} : watchCatalog(catalog), ...resources }),
    }
  } catch (error) {
    await closeResources(resources)
    throw error
  }
}

interface GatewayParts extends Pick<ModelSetup, 'providers' | 'models' | 'facts'> {
  readonly storage: Storage
  readonly transport: NodeTransport
  readonly log: Log
  readonly sealingKey: Uint8Array
}

const gatewayFor = (config: Config, { storage, log, ...parts }: GatewayParts): Gateway =>
  createGateway({
    ...parts,
    // The storage is used until the last response is written, so the server closes it.
    storage: { ...storage, close: async () => {} },
    logger: log.logger,
    ...gatewayOptions(config),
  })

const listen = (gateway: Gateway, config: Config, { onRequest }: Log): Promise<RunningServer> =>
  serve(gateway, { ...serverOptions(config), onRequest }).catch((error: unknown) => {
    throw listenError(error, config)
  })

/** The gateway options that the config sets. */
const gatewayOptions = ({ workers, limits, timeouts, ...config }: Config): Partial<GatewayOptions> => ({
  ownedBy: config.owned_by,
  strategy: config.strategy,
  hedge: config.hedge,
  maxHedgeCost: config.max_hedge_cost_usd === undefined ? undefined : roundUsd(config.max_hedge_cost_usd),
  decisionLog: config.decision_log,
  // The next request of a conversation may reach another worker.
  storedItems: config.stored_items && { store: hasPrimary({ workers }), ...withCodeNames(config.stored_items) },
  limits: optionsOf(limits, gatewayLimits),
  timeouts: optionsOf(timeouts, gatewayTimeouts),
})

/** The HTTP server options that the config sets. */
const serverOptions = ({ host, port, cors_origins, limits, web_sockets, timeouts }: Config): ServeOptions => ({
  host,
  port,
  cors: cors_origins === undefined ? undefined : { origins: cors_origins },
  ...optionsOf(limits, serverLimits),
  webSockets: optionsOf(web_sockets, webSocketLimits),
  ...optionsOf(timeouts, serverTimeouts),
})

/** The fields of a section that a table contains, with the names that they have in code. */
const optionsOf = <Section extends object, Table extends object>(
  section: Section,
  table: Table,
): CodeNames<Pick<Section, keyof Section & keyof Table>> =>
  withCodeNames(Object.fromEntries(Object.entries(section).filter(([name]) => Object.hasOwn(table, name)))) as never

interface OpenResources {
  readonly storage: Storage
  readonly transport: NodeTransport
  readonly log: Log
}

const silentLogger = { info: () => {}, error: () => {} }

interface RunningParts extends OpenResources {
  readonly gateway: Gateway
  readonly served: RunningServer
  readonly unwatch: () => void
  readonly timeouts: Config['timeouts']
}

/** The two ways to end. `stop` also ends a running drain. */
function stopping({ gateway, served, unwatch, timeouts, ...resources }: RunningParts): Pick<StandaloneServer, 'stop' | 'drain'> {
  const { flush_ms: flushMs, after_drain_ms: afterDrainMs } = timeouts
  let stopped: Promise<void> | undefined
  // First the gateway while the server still listens, so that `readyz` informs a load balancer; then the server, then the storage.
  const end = async (graceMs: number): Promise<void> => {
    unwatch()
    await gateway.close({ graceMs })
    await served.close({ graceMs: flushMs })
    await closeResources(resources)
  }
  const stop = ({ graceMs }: { readonly graceMs: number }): Promise<void> => (stopped ??= end(graceMs))
  return {
    stop,
    async drain({ graceMs }) {
      const isDrained = await Promise.race([
        served.close({ graceMs: graceMs + flushMs, keepIdle: true }).then(() => true),
        sleep(graceMs, false, { ref: false }),
      ])
      await stop({ graceMs: isDrained ? afterDrainMs : 0 })
    },
  }
}

async function closeResources({ storage, transport, log }: OpenResources): Promise<void> {
  try {
    await storage.close()
    await transport.close()
  } finally {
    log.flush()
    process.off('exit', log.flush)
  }
}
