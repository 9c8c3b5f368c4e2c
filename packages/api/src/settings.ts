import type { RequestLine } from './line.ts'

export interface ApiOptions {
  /** Largest request body in bytes. Default 33,554,432. */
  readonly bodyBytes?: number
  /** How long a stream may wait for its first content before status 200 is sent and keep-alive begins. Default 10,000. */
  readonly holdMs?: number
  /** Silence after which a stream says a comment. Default 15,000. */
  readonly keepAliveMs?: number
  /** Rows of an export. Default 100,000. */
  readonly exportRows?: number
  /** Stands before every path, as in `/api`. Default: nothing. */
  readonly basePath?: string
  /** Off by default: browsers of other sites get no answer that they may read. */
  readonly cors?: Cors
  /** Called once per request, when its reply is over. */
  readonly onRequest?: (line: RequestLine) => void
}

export interface Cors {
  /** `*`, or the origins that may call, as in `https://app.example`. */
  readonly origins: '*' | readonly string[]
}

export interface Settings {
  readonly bodyBytes: number
  readonly holdMs: number
  readonly keepAliveMs: number
  readonly exportRows: number
  readonly basePath: string
  readonly cors: Cors | undefined
  readonly onRequest: ((line: RequestLine) => void) | undefined
}

export const settingsOf = (options: ApiOptions = {}): Settings => ({
  bodyBytes: options.bodyBytes ?? 33_554_432,
  holdMs: options.holdMs ?? 10_000,
  keepAliveMs: options.keepAliveMs ?? 15_000,
  exportRows: options.exportRows ?? 100_000,
  basePath: checkedBase(options.basePath ?? ''),
  cors: options.cors,
  onRequest: options.onRequest,
})

function checkedBase(path: string): string {
  const base = path.endsWith('/') ? path.slice(0, -1) : path
  if (base !== '' && !/^(\/[A-Za-z0-9._~-]+)+$/.test(base)) {
    throw new TypeError(`createApi: \`basePath\` must look like "/api", got "${path}".`)
  }
  return base
}
