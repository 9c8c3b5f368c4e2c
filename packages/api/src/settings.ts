import type { RequestLine } from './request-log.ts'
import { type WebSocketLimits, webSocketLimitsOf } from './websocket/limits.ts'

/** The options of `createApi`: limits on bodies and exports, timing of streams, and where the API is mounted. */
export interface ApiOptions {
  /** Largest request body in bytes. Default 33,554,432. */
  readonly bodyBytes?: number
  /**
   * Bytes of request bodies, and of kept items that requests refer to, that the keys of one workspace may have under way at a time; beyond
   * them 429. At least one body of `bodyBytes` fits. Default 83,886,080.
   */
  readonly uploadBytesPerWorkspace?: number
  /** The same for one end user, in all its sessions. At least one body of `bodyBytes` fits. Default 33,554,432. */
  readonly uploadBytesPerUser?: number
  /** Bytes of request bodies that all workspaces together may have under way; beyond them 503. At least one body of `bodyBytes` fits. Default 167,772,160. */
  readonly uploadBytes?: number
  /** How long a stream may wait for its first content before status 200 is sent and keep-alive begins. Default 10,000. */
  readonly holdMs?: number
  /** Milliseconds of silence after which a stream sends a comment. Default 15,000. */
  readonly keepAliveMs?: number
  /** Limits on WebSocket connections. */
  readonly webSockets?: WebSocketLimits
  /** Rows of an export. Default 100,000. */
  readonly exportRows?: number
  /** Stands before every path, as in `/api`. Default: nothing. */
  readonly basePath?: string
  /** Off by default: browsers of other sites get no answer that they may read. */
  readonly cors?: Cors
  /** Longest wait for `authenticate` of an adapter, in milliseconds; beyond it 503. Default 10,000. */
  readonly authenticateMs?: number
  /** Called once per request, when its reply is over. */
  readonly onRequest?: (line: RequestLine) => void
}

/** Which browser origins may read replies. */
export interface Cors {
  /** `*`, or the origins that may call, as in `https://app.example`. */
  readonly origins: '*' | readonly string[]
}

export interface Settings {
  readonly bodyBytes: number
  readonly uploadBytesPerWorkspace: number
  readonly uploadBytesPerUser: number
  readonly uploadBytes: number
  readonly holdMs: number
  readonly keepAliveMs: number
  readonly webSockets: Required<WebSocketLimits>
  readonly exportRows: number
  readonly basePath: string
  readonly cors: Cors | undefined
  readonly authenticateMs: number
  readonly onRequest: ((line: RequestLine) => void) | undefined
}

/** What holds where an option is left out. */
const defaultSettings = {
  bodyBytes: 33_554_432,
  uploadBytesPerWorkspace: 83_886_080,
  uploadBytesPerUser: 33_554_432,
  uploadBytes: 167_772_160,
  holdMs: 10_000,
  keepAliveMs: 15_000,
  exportRows: 100_000,
  basePath: '',
  authenticateMs: 10_000,
} as const

export const settingsOf = (options: ApiOptions = {}): Settings => ({
  bodyBytes: options.bodyBytes ?? defaultSettings.bodyBytes,
  uploadBytesPerWorkspace: options.uploadBytesPerWorkspace ?? defaultSettings.uploadBytesPerWorkspace,
  uploadBytesPerUser: options.uploadBytesPerUser ?? defaultSettings.uploadBytesPerUser,
  uploadBytes: options.uploadBytes ?? defaultSettings.uploadBytes,
  holdMs: options.holdMs ?? defaultSettings.holdMs,
  keepAliveMs: options.keepAliveMs ?? defaultSettings.keepAliveMs,
  webSockets: webSocketLimitsOf(options.webSockets),
  exportRows: options.exportRows ?? defaultSettings.exportRows,
  basePath: checkedBase(options.basePath ?? defaultSettings.basePath),
  cors: options.cors,
  authenticateMs: options.authenticateMs ?? defaultSettings.authenticateMs,
  onRequest: options.onRequest,
})

function checkedBase(path: string): string {
  const base = path.endsWith('/') ? path.slice(0, -1) : path
  if (base !== '' && !/^(\/[A-Za-z0-9._~-]+)+$/.test(base)) {
    throw new TypeError(`createApi: \`basePath\` must look like "/api", got "${path}".`)
  }
  return base
}
