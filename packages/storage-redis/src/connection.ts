import type { EphemeralError } from '@signalbox/storage/compose'
import { Cluster, Redis } from 'ioredis'
import { warnOfEviction } from './eviction.ts'
import { failureOf } from './failures.ts'
import type { ResolvedOptions, ServerOptions } from './options.ts'
import { type ScriptCall, type ScriptReply, scriptInput, scriptSha, scriptSource } from './script.ts'

/** A connection to one server or to a cluster. When lost, it is re-established in the background. */
export interface RedisConnection {
  /** Runs calls in order in one round trip; all their keys are on one server. The result of a failed call is an error. */
  run(calls: readonly ScriptCall[]): Promise<readonly (ScriptReply | EphemeralError)[]>
  publish(channel: string, message: string): Promise<void>
  /** Connections that can subscribe to channels, to be tried in order. */
  readonly listenable: () => readonly ServerOptions[]
  /** Drops an unresponsive connection and creates a new one. */
  reset(): void
  close(): void
}

type Client = Redis | Cluster

/** Milliseconds before the n-th connection attempt: soon at first, then every second, with jitter so that processes do not reconnect together. */
const retryDelay = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), 1_000) * (0.75 + Math.random() / 2)
/** Milliseconds after which a connection attempt is given up and retried. */
const connectTimeoutMs = 2_000

/** Commands get a response or fail: none waits for a connection, and none is sent twice. */
const fixedOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  connectTimeout: connectTimeoutMs,
  // Also limits the first commands of a connection, so that a server that accepts it but does not respond is retried.
  commandTimeout: connectTimeoutMs,
  // Commands and replies are the same in both protocols; the older one needs no negotiation.
  protocol: 2,
  disableClientInfo: true,
  retryStrategy: retryDelay,
} as const satisfies ServerOptions

interface ConnectionState {
  readonly options: ResolvedOptions
  readonly client: Client
  readonly secrets: readonly string[]
  /** Resolves once the client is ready for the first time, or has failed to connect: later calls do not wait for it. */
  readonly opened: Promise<void>
  isOpened: boolean
  isClosed: boolean
  /** Why there is no connection, which the errors of commands do not say. */
  lastError: unknown
}

/** Opens the connection in the background. `openRedis(resolveOptions({ url })).run([call])` */
export function openRedis(options: ResolvedOptions): RedisConnection {
  const { servers, isCluster, connection } = options
  const serverOptions: readonly ServerOptions[] = servers.map(server => ({ ...connection, ...server, ...fixedOptions }))
  const client: Client = isCluster ? openCluster(serverOptions) : new Redis(serverOptions[0] ?? {})
  const state = watchClient(client, options)
  return {
    async run(calls) {
      await connected(state)
      const { keys, args } = scriptInput(calls, options.clock)
      const [results, errors] = await evaluate(client, keys, args).catch((error: unknown) => {
        throw failed(state, error)
      })
      return errors.length === 0 ? results : withErrors(results, errors, error => failed(state, error))
    },
    async publish(channel, message) {
      await connected(state)
      await client.publish(channel, message).catch((error: unknown) => {
        throw failed(state, error)
      })
    },
    listenable() {
      const nodes = client instanceof Cluster ? client.nodes('all').map(({ options: { host, port } }) => ({ host, port })) : []
      const [first] = serverOptions
      return nodes.length === 0 ? serverOptions : nodes.map(node => ({ ...first, ...node }) as ServerOptions)
    },
    reset: () => reset(state),
    close() {
      state.isClosed = true
      client.disconnect()
    },
  }
}

function watchClient(client: Client, options: ResolvedOptions): ConnectionState {
  const opened = new Promise<void>(resolve => {
    for (const event of ['ready', 'error', 'end', 'close'] as const) client.once(event, () => resolve())
  })
  const secrets = options.servers.flatMap(({ password }) => password ?? [])
  const state: ConnectionState = { options, client, secrets, opened, isOpened: false, isClosed: false, lastError: undefined }
  void opened.then(() => {
    state.isOpened = true
  })
  client.on('error', error => {
    state.lastError = error
  })
  client.on('ready', () => {
    state.lastError = undefined
  })
  client.once('ready', () => void warnOfEviction(client, options))
  return state
}

async function connected(state: ConnectionState): Promise<void> {
  if (!state.isOpened) await state.opened
  if (state.client.status !== 'ready') throw failed(state, new Error('not connected'))
}

/** The reported error of a failed command. Reconnects if another server may respond at the same address. */
function failed(state: ConnectionState, error: unknown): EphemeralError {
  const { client, secrets, options, lastError } = state
  const cause = client.status === 'ready' ? error : (lastError ?? error)
  const failure = failureOf(cause, { name: options.name, secrets })
  if (failure.reconnect) reset(state)
  return failure.error
}

function reset({ client, isClosed }: ConnectionState): void {
  // Otherwise it is already reconnecting.
  if (!isClosed && client.status === 'ready') client.disconnect(true)
}

/** The results of a batch, with errors in place of failed calls. */
function withErrors(
  results: readonly ScriptReply[],
  errors: readonly (number | string)[],
  toFailure: (error: unknown) => EphemeralError,
): readonly (ScriptReply | EphemeralError)[] {
  const answers: (ScriptReply | EphemeralError)[] = [...results]
  for (let at = 0; at < errors.length; at += 2) answers[Number(errors[at]) - 1] = toFailure(String(errors[at + 1]))
  return answers
}

function openCluster(servers: readonly ServerOptions[]): Cluster {
  const [first = {}] = servers
  const { host: _, port: __, retryStrategy: ___, enableOfflineQueue: ____, ...node } = first
  return new Cluster(
    servers.map(({ host = 'localhost', port = 6379 }) => ({ host, port })),
    {
      redisOptions: node,
      // A new node is connected on first use. Commands wait only for that (see `run`).
      enableOfflineQueue: true,
      clusterRetryStrategy: retryDelay,
      clusterNodeRetryStrategy: retryDelay,
      // A command whose connection was lost may have been executed, so it is not sent again.
      retryDelayOnFailover: 0,
      slotsRefreshTimeout: connectTimeoutMs,
    },
  )
}

/** Runs the script by its hash, or by its text if the server does not know it. */
async function evaluate(client: Client, keys: string[], args: string[]): Promise<[ScriptReply[], (number | string)[]]> {
  try {
    return (await client.evalsha(scriptSha, keys.length, ...keys, ...args)) as [ScriptReply[], (number | string)[]]
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return (await client.eval(scriptSource, keys.length, ...keys, ...args)) as [ScriptReply[], (number | string)[]]
  }
}
