/** How a client reaches a gateway. */
export interface ClientOptions {
  /** Where the API is mounted, with or without `/v1` at its end: `https://gateway.example`, `https://app.example/api/v1`. */
  readonly baseURL: string
  /** A key of the workspace with the scopes that the calls need. Absent: `headers` or `fetch` authenticate the calls. */
  readonly apiKey?: string
  /** Id of the workspace. Default: that of the key, for which the first call asks `GET /v1/me`. */
  readonly workspace?: string
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the `fetch` of the runtime. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** What one call may have of its own; the last argument of every method. */
export interface CallOptions {
  /** Ends the call: its promise is rejected with the reason of the signal. */
  readonly signal?: AbortSignal
  /** For methods that create: the same key and body again within 24 hours do nothing and return the first reply. */
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

const optionNames: readonly string[] = ['baseURL', 'apiKey', 'workspace', 'headers', 'fetch']

/** Where the API is mounted, without `/v1` and without a slash at its end. Throws a TypeError for options that no client can be made of. */
export function baseOf(options: ClientOptions): string {
  const unknown = Object.keys(options).find(name => !optionNames.includes(name))
  if (unknown !== undefined) throw new TypeError(`createClient has no option \`${unknown}\`. It takes ${optionNames.join(', ')}.`)
  const { baseURL, apiKey } = options
  if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(baseURL))
    throw new TypeError(`\`baseURL\` is ${JSON.stringify(baseURL)}. It takes a URL without a query, as in "https://gateway.example".`)
  if (apiKey === '') throw new TypeError('`apiKey` is empty. Is its environment variable set?')
  return baseURL.replace(/\/+$/, '').replace(/\/v1$/, '')
}
