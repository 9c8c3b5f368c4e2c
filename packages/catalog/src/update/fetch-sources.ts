import { shownUrl } from '@signalbox/dialects/errors'
import { type SourceName, type Sources, sourceNames } from './source.ts'

/** How to fetch a source: a URL, and a bearer token if required. */
export interface SourceRequest {
  readonly name: SourceName
  /** Default: the public URL. A user and password in it are sent as basic authorization. Messages show neither them nor its query. */
  readonly url?: string
  readonly token?: string
}

/** How sources are fetched. */
export interface FetchOptions {
  readonly fetch: typeof fetch
  /** Milliseconds per source. Default: 30,000. */
  readonly timeoutMs?: number
  /** Maximum bytes per source. Default: 33,554,432. */
  readonly maxBytes?: number
}

/** The sources, or why they could not be read. */
export type SourcesResult = { readonly ok: true; readonly sources: Sources } | { readonly ok: false; readonly problems: readonly string[] }

const addresses: Readonly<Record<SourceName, string>> = {
  'models.dev': 'https://models.dev/api.json',
  'genai-prices': 'https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/data.json',
  openrouter: 'https://openrouter.ai/api/v1/models',
  openai: 'https://api.openai.com/v1/models',
}

/**
 * Fetches sources for `updateCatalog` concurrently, each with limits on time and size.
 *
 * @example await fetchSources([{ name: 'models.dev' }, { name: 'openrouter' }], { fetch })
 */
export async function fetchSources(requests: readonly SourceRequest[], options: FetchOptions): Promise<SourcesResult> {
  const read = await Promise.all(requests.map(request => fetchSource(request, options)))
  const problems = read.flatMap(({ problem }) => problem ?? [])
  if (problems.length > 0) return { ok: false, problems }
  const json = new Map(requests.map(({ name }, index) => [name, read[index]?.json]))
  return { ok: true, sources: Object.fromEntries(sourceNames.flatMap(name => (json.has(name) ? [[name, json.get(name)]] : []))) }
}

interface FetchedSource {
  readonly json?: unknown
  readonly problem?: string
}

async function fetchSource({ name, url = addresses[name], token }: SourceRequest, options: FetchOptions): Promise<FetchedSource> {
  const { fetch, timeoutMs = 30_000, maxBytes = 33_554_432 } = options
  const shown = shownUrl(url)
  const address = parseAddress(url)
  if (!address) return { problem: `${name} cannot be read from ${shown}, which is no http or https URL.` }
  try {
    const authorization = token === undefined ? address.authorization : `Bearer ${token}`
    const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) }
    const response = await fetch(address.url, { headers, signal: AbortSignal.timeout(timeoutMs) })
    if (!response.ok) return { problem: `${name} cannot be read: ${shown} responded with status ${response.status}.` }
    return parseSource(name, await readText(response, maxBytes))
  } catch (error) {
    const { name: kind, message, cause } = error as Error
    const why = kind === 'TimeoutError' ? `no response within ${timeoutMs} ms` : ((cause as Error | undefined)?.message ?? message)
    return { problem: `${name} cannot be read from ${shown}: ${why.replaceAll(address.url, shown)}.` }
  }
}

/** The address without its user and password, which `fetch` does not take, and the header that carries them. */
function parseAddress(text: string): { readonly url: string; readonly authorization?: string } | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  const { username, password } = url
  if (username === '' && password === '') return { url: url.href }
  url.username = ''
  url.password = ''
  const bytes = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`)
  return { url: url.href, authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` }
}

/** A `%` that begins no code stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Omits the message of the JSON error, which quotes external text. */
function parseSource(name: SourceName, text: string): FetchedSource {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return { problem: `${name} is not valid JSON.` }
  }
}
