import type { Gateway } from '@signalbox/gateway'
import { checkOptionTable, type OptionTable, type OptionTableOf } from '@signalbox/storage/option-table'
import type { RequestLine } from './request-log.ts'
import { type WebSocketLimits, webSocketLimitsOf } from './websocket/limits.ts'

/** The options of `createApi`: limits on bodies and exports, timing of streams, and where the API is mounted. */
export interface ApiOptions {
  /** Maximum size of a request body in bytes. Default: 33,554,432. */
  readonly maxBodyBytes?: number
  /**
   * Maximum total bytes of request bodies, and of stored items and downloaded files that requests refer to, in use by the keys of one
   * workspace at a time. Beyond them requests get 429. Always enough for one body of `maxBodyBytes`. Default: 83,886,080.
   */
  readonly maxUploadBytesPerWorkspace?: number
  /**
   * Maximum total bytes of request bodies in use by one end user across its sessions. Always enough for one body of `maxBodyBytes`. Default:
   * 33,554,432.
   */
  readonly maxUploadBytesPerUser?: number
  /**
   * Maximum total bytes of request bodies in use by all workspaces together. Beyond them requests get 503: a workspace may use at least half of what the others leave. Always enough for one body of `maxBodyBytes`. Default: 167,772,160.
   */
  readonly maxUploadBytes?: number
  /** Milliseconds that a stream waits for its first content before status 200 is sent and keep-alive begins. Default: 10,000. */
  readonly firstContentWaitMs?: number
  /** Milliseconds of silence after which a stream sends a keep-alive comment. Default: 15,000. */
  readonly keepAliveMs?: number
  /** Limits on WebSocket connections. */
  readonly webSockets?: WebSocketLimits
  /** Maximum rows of an export. Default: 100,000. */
  readonly maxExportRows?: number
  /** Prefix of every path, as in `/api`. Default: empty. */
  readonly basePath?: string
  /** Off by default: browsers do not let pages of other sites read responses. */
  readonly cors?: Cors
  /** Milliseconds after which a pending `authenticate` of an adapter counts as failed, with 503. Default: 10,000. */
  readonly authenticateMs?: number
  /** Called once per request, when its reply is complete. */
  readonly onRequest?: (line: RequestLine) => void
}

/** Which browser origins may read replies. */
export interface Cors {
  /** `*`, or the allowed origins, as in `https://app.example`. */
  readonly origins: '*' | readonly string[]
}

/** The options with their default values. */
export const settingsOf = ({
  maxBodyBytes = 33_554_432,
  maxUploadBytesPerWorkspace = 83_886_080,
  maxUploadBytesPerUser = 33_554_432,
  maxUploadBytes = 167_772_160,
  firstContentWaitMs = 10_000,
  keepAliveMs = 15_000,
  webSockets,
  maxExportRows = 100_000,
  basePath = '',
  cors,
  authenticateMs = 10_000,
  onRequest,
}: ApiOptions = {}) => ({
  maxBodyBytes,
  maxUploadBytesPerWorkspace,
  maxUploadBytesPerUser,
  maxUploadBytes,
  firstContentWaitMs,
  keepAliveMs,
  webSockets: webSocketLimitsOf(webSockets),
  maxExportRows,
  basePath: checkedBase(basePath),
  cors,
  authenticateMs,
  onRequest,
})

/** The options of an API with their default values. */
export type Settings = Readonly<ReturnType<typeof settingsOf>>

function checkedBase(path: string): string {
  const base = path.endsWith('/') ? path.slice(0, -1) : path
  if (base !== '' && !/^(\/[A-Za-z0-9._~-]+)+$/.test(base)) {
    throw new TypeError(`createApi: \`basePath\` must look like "/api", got "${path}".`)
  }
  if (base.endsWith('/v1'))
    throw new TypeError(
      `createApi: \`basePath\` is "${path}", and every path of the gateway begins with "/v1" itself; leave that out: "${base.slice(0, -3)}".`,
    )
  return base
}

/** The options that all adapters share. */
export const mountTable: OptionTableOf<ApiOptions & ClientLimits> = {
  maxBodyBytes: 'number',
  maxUploadBytesPerWorkspace: 'number',
  maxUploadBytesPerUser: 'number',
  maxUploadBytes: 'number',
  firstContentWaitMs: 'number',
  keepAliveMs: 'number',
  webSockets: {
    maxConnectionsPerWorkspace: 'number',
    maxConnectionsPerUser: 'number',
    maxConnections: 'number',
    maxAgeMs: 'number',
    maxIdleMs: 'number',
    maxMessageBytes: 'number',
    maxWaiting: 'number',
    maxHistoryBytes: 'number',
    maxHistoryBytesPerWorkspace: 'number',
    maxHistoryBytesPerUser: 'number',
    maxHistoryBytesTotal: 'number',
  } satisfies OptionTableOf<WebSocketLimits>,
  maxExportRows: 'number',
  basePath: 'text',
  cors: 'object',
  authenticateMs: 'number',
  onRequest: 'function',
  bodyIdleMs: 'number',
  bodyBytesPerSecond: 'number',
  drainMs: 'number',
}

/** The arguments of an adapter. */
interface Mount {
  readonly gateway: Gateway
  readonly options: unknown
  /** The options that the adapter accepts. */
  readonly table: OptionTable
}

/**
 * Checks the arguments of an adapter. `call` is the name of its function.
 *
 * @throws {TypeError} The gateway is not one, or an option is unknown or has the wrong type.
 * @example checkMount('toNodeHandler', { gateway, options, table: mountTable })
 */
export function checkMount(call: string, { gateway, options, table }: Mount): void {
  if (typeof gateway?.infer !== 'function')
    throw new TypeError(
      `${call}: the first argument is not a gateway; it takes what \`createGateway\` makes of providers, models and a storage.`,
    )
  checkOptionTable({ call }, options === undefined ? {} : options, table)
}

/** Limits on how slowly a client may send and receive. */
export interface ClientLimits {
  /** Window over which the speed of an upload is measured, in milliseconds. Default: 15,000. */
  readonly bodyIdleMs?: number
  /** Minimum upload speed in bytes per second, averaged over `bodyIdleMs`. Default: 1,000. */
  readonly bodyBytesPerSecond?: number
  /** Milliseconds after which a client that does not read waiting data is disconnected. Default: 60,000. */
  readonly drainMs?: number
}

const defaultClientLimits: Required<ClientLimits> = { bodyIdleMs: 15_000, bodyBytesPerSecond: 1_000, drainMs: 60_000 }

/** Fills in the defaults of `ClientLimits`. */
export const limitsOf = ({
  bodyIdleMs = defaultClientLimits.bodyIdleMs,
  bodyBytesPerSecond = defaultClientLimits.bodyBytesPerSecond,
  drainMs = defaultClientLimits.drainMs,
}: ClientLimits = {}): Required<ClientLimits> => ({ bodyIdleMs, bodyBytesPerSecond, drainMs })
