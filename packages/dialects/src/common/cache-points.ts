import type { Item, Part } from '../protocol/item.ts'
import type { CachePlace } from '../protocol/model.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { CachePoint, Tool } from '../protocol/tool.ts'
import { isObject } from '../protocol/wire.ts'
import { combinedWarning, itemParts } from './part-warnings.ts'

// Chooses the cache points of a request before it is encoded, for all dialects that send them.

/**
 * Anthropic, Bedrock and Alibaba accept four. Sources: their pages on prompt caching (2026-11); more are a 400 "A maximum of 4 blocks with
 * cache_control may be provided".
 */
const maxCachePoints = 4

/** Every place where a dialect may accept cache points. */
const everywhere: readonly CachePlace[] = ['tools', 'system', 'user', 'assistant', 'results', 'calls']

interface Holder {
  readonly value: Tool | Item | Part
  readonly cache: CachePoint
  /** Undefined for a blank text, which cannot have one. */
  readonly place: CachePlace | undefined
  readonly param: string
  /** Whether it came in the dialect of the provider, and is sent as it came. */
  readonly isOwn: boolean
}

interface CacheOptions {
  readonly dialect: string
  /** Where the offer accepts cache points. */
  readonly places?: readonly CachePlace[]
  /** Why a cache point was left out of another place. */
  readonly refusal?: string
  /** Whether the cache point at the end of the conversation is sent too. */
  readonly sendsEnd: boolean
  /** How many the provider accepts. Default: 4. */
  readonly max?: number
  /** Whether only texts can have one. Default: false. */
  readonly isTextOnly?: boolean
}

export interface FittedCachePoints {
  /** The same prompt object if every cache point is accepted. */
  readonly prompt: Prompt
  readonly warnings: readonly Warning[]
}

/** Keeps the last cache points that the provider accepts: of a growing conversation, the newest prefix is read by the next turn. */
export function fitCachePoints(prompt: Prompt, options: CacheOptions): FittedCachePoints {
  const {
    dialect,
    sendsEnd,
    max = maxCachePoints,
    isTextOnly = false,
    places = everywhere,
    refusal = 'is a cache marker, which this provider does not support there; it was left out.',
  } = options
  const holders = holdersIn(prompt, dialect)
  if (holders.length === 0) return { prompt, warnings: [] }
  const own = holders.filter(({ isOwn }) => isOwn).length + (sendsEnd && endCachePoint(prompt) ? 1 : 0)
  const foreign = holders.filter(({ isOwn }) => !isOwn)
  const isAccepted = ({ value, place }: Holder): boolean => place !== undefined && places.includes(place) && !(isTextOnly && isMedia(value))
  const refused = foreign.filter(holder => !isAccepted(holder))
  const accepted = foreign.filter(isAccepted)
  const excess = accepted.slice(0, Math.max(0, accepted.length - Math.max(0, max - own)))
  const short = shortLived(accepted.slice(excess.length))
  const changed = new Map<object, CachePoint | undefined>([
    ...[...refused, ...excess].map(({ value }) => [value, undefined] as const),
    ...short.map(({ value }) => [value, {}] as const),
  ])
  if (changed.size === 0) return { prompt, warnings: [] }
  return {
    prompt: withCachePoints(prompt, changed),
    warnings: [
      ...combinedWarning(paramsOf(refused), refusal),
      ...combinedWarning(
        paramsOf(excess),
        `is a cache marker too many: this provider accepts ${max}; the last ones were kept, and this was left out.`,
      ),
      ...combinedWarning(
        paramsOf(short),
        'is a cache marker of one hour after one of five minutes, which this provider does not support; it was sent as one of five minutes.',
      ),
    ],
  }
}

/** The cache point at the end of the conversation, which some APIs let a client set for the whole request. */
export function endCachePoint({ native }: Prompt): CachePoint | undefined {
  const control = native?.body.cache_control
  if (!isObject(control)) return undefined
  return control.ttl === '5m' || control.ttl === '1h' ? { ttl: control.ttl } : {}
}

const paramsOf = (holders: readonly Holder[]): readonly string[] => holders.map(({ param }) => param)

/** Long-lived cache points after short-lived ones, in the order tools, system, messages: Anthropic's page on prompt caching, 2026-11. */
function shortLived(holders: readonly Holder[]): readonly Holder[] {
  const first = holders.findIndex(({ cache }) => cache.ttl !== '1h')
  return first === -1 ? [] : holders.slice(first).filter(({ cache }) => cache.ttl === '1h')
}

const cacheIn = (value: Tool | Item | Part): CachePoint | undefined => ('cache' in value ? value.cache : undefined)

const isMedia = ({ type }: Tool | Item | Part): boolean => type === 'image' || type === 'file' || type === 'audio'

const isEmptyText = (part: Part): boolean => part.type === 'text' && part.text.trim() === ''

function placeOf(item: Item, isStart: boolean): CachePlace {
  if (isStart) return 'system'
  if (item.type === 'message') return item.role === 'assistant' ? 'assistant' : 'user'
  return item.type === 'function_call' ? 'calls' : 'results'
}

/** In the order of the cached prefix. */
function holdersIn({ tools = [], input }: Prompt, dialect: string): readonly Holder[] {
  const holders: Holder[] = []
  const add = (value: Tool | Item | Part, place: CachePlace | undefined, otherwise: string): void => {
    const cache = cacheIn(value)
    if (cache) holders.push({ value, cache, place, param: pathOf(value, otherwise), isOwn: originalOf(value)?.dialect === dialect })
  }
  for (const [at, tool] of tools.entries()) add(tool, 'tools', `tools[${at}]`)
  let isStart = true
  for (const [at, item] of input.entries()) {
    isStart &&= item.type === 'message' && (item.role === 'system' || item.role === 'developer')
    const place = placeOf(item, isStart)
    const where = item.type === 'message' ? 'content' : 'output'
    for (const [index, part] of itemParts(item).entries())
      add(part, isEmptyText(part) ? undefined : place, `input[${at}].${where}[${index}]`)
    add(item, place, `input[${at}]`)
  }
  return holders
}

type Changed = ReadonlyMap<object, CachePoint | undefined>

const withCachePoints = (prompt: Prompt, changed: Changed): Prompt => ({
  ...prompt,
  input: prompt.input.map(item => marked(withParts(item, changed), item, changed)),
  tools: prompt.tools?.map(tool => marked(tool, tool, changed)),
})

function withParts(item: Item, changed: Changed): Item {
  const parts = itemParts(item)
  if (!parts.some(part => changed.has(part))) return item
  const written = parts.map(part => marked(part, part, changed))
  if (item.type === 'message') return remember({ ...item, content: written }, originalOf(item))
  return item.type === 'function_call_output' ? remember({ ...item, output: written }, originalOf(item)) : item
}

/** A copy with the other cache point. `known`: the value that it was made from. */
function marked<T extends Tool | Item | Part>(value: T, known: T, changed: Changed): T {
  if (!changed.has(known)) return value
  const cache = changed.get(known)
  const { cache: _, ...rest } = value as T & { readonly cache?: CachePoint }
  return remember({ ...rest, cache } as T, originalOf(known))
}
