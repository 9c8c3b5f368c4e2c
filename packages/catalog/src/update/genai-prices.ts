import type { Price, PriceChange, PriceWindow, Rates } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import { microdollars } from './prices.ts'
import { dollarAmount } from './source.ts'

// Reads Pydantic's genai-prices: a list of providers, whose models `match` ids. Prices are in US dollars per million tokens.

const amount = z.union([dollarAmount(), z.object({ base: dollarAmount() }).transform(({ base }) => base)]).optional()
const ratesSchema = z.object({
  input_mtok: amount,
  output_mtok: amount,
  input_audio_mtok: amount,
  cache_read_mtok: amount,
  cache_write_mtok: amount,
  cache_write_1h_mtok: amount,
  requests_kcount: amount,
})
const constraint = z.union([
  z.object({ start_date: z.string().regex(/^\d{4}-\d\d-\d\d$/) }),
  z.object({ start_time: z.string().regex(/^\d\d:\d\d/), end_time: z.string().regex(/^\d\d:\d\d/) }),
])
const pricesSchema = z.union([z.array(z.object({ constraint: constraint.nullish(), prices: ratesSchema })), ratesSchema])
const modelSchema = z.object({ match: z.unknown(), prices: pricesSchema })
const providersSchema = z.array(z.object({ id: z.string(), models: z.array(z.unknown()) }))
type Conditional = Extract<z.infer<typeof pricesSchema>, readonly unknown[]>

/** Its ids of our providers, where they differ. */
const providerIds: ReadonlyMap<string, string> = new Map([
  ['aws', 'amazon-bedrock'],
  ['x-ai', 'xai'],
  ['cloudflare', 'cloudflare-workers-ai'],
])

/** Finds the price of an offer on a date; undefined if there is none. */
export type PriceLookup = (provider: string, id: string, today: string) => Price | undefined

/**
 * Reads the genai-prices data: a second opinion on prices, including announced prices and prices by hour of the day.
 *
 * @example readGenaiPrices(json)('deepseek', 'deepseek-chat', '2026-11-22')?.windows
 */
export function readGenaiPrices(json: unknown): PriceLookup {
  const { data: providers = [] } = providersSchema.safeParse(json)
  const byProvider = new Map(providers.map(({ id, models }) => [providerIds.get(id) ?? id, models]))
  return (provider, id, today) => {
    for (const item of byProvider.get(provider) ?? []) {
      const match: unknown = typeof item === 'object' && item !== null && 'match' in item ? item.match : undefined
      if (!matches(match, id.toLowerCase())) continue
      const { data: model } = modelSchema.safeParse(item)
      return model && priceFrom(Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }], today)
    }
    return undefined
  }
}

/** Regex patterns match nothing, because an external one may take forever. */
function matches(logic: unknown, id: string): boolean {
  if (typeof logic !== 'object' || logic === null) return false
  const [[kind, value] = []] = Object.entries(logic)
  if (Array.isArray(value))
    return kind === 'or' ? value.some(each => matches(each, id)) : kind === 'and' && value.every(each => matches(each, id))
  if (typeof value !== 'string' || value === '') return false
  const text = value.toLowerCase()
  if (kind === 'equals') return id === text
  if (kind === 'starts_with') return id.startsWith(text)
  if (kind === 'ends_with') return id.endsWith(text)
  return kind === 'contains' && id.includes(text)
}

function priceFrom(all: Conditional, today: string): Price | undefined {
  const dated = all.filter(({ constraint }) => !constraint || 'start_date' in constraint)
  const startOf = ({ constraint }: Conditional[number]): string => (constraint && 'start_date' in constraint ? constraint.start_date : '')
  const current = dated
    .filter(each => startOf(each) <= today)
    .toSorted((a, b) => compare(startOf(a), startOf(b)))
    .at(-1)
  const price = current && ratesFrom(current.prices)
  if (!price) return undefined
  const windows = all.flatMap(each => windowOf(each))
  const changes = dated
    .filter(each => startOf(each) > today)
    .toSorted((a, b) => compare(startOf(a), startOf(b)))
    .flatMap((each): readonly PriceChange[] => {
      const next = ratesFrom(each.prices)
      return next ? [{ from: startOf(each), price: next }] : []
    })
  return { ...price, ...(windows.length > 0 && { windows }), ...(changes.length > 0 && { changes }) }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function windowOf({ constraint, prices }: Conditional[number]): readonly PriceWindow[] {
  const rates = constraint && 'start_time' in constraint && ratesFrom(prices)
  return rates ? [{ from: constraint.start_time.slice(0, 5), to: constraint.end_time.slice(0, 5), ...rates }] : []
}

function ratesFrom(prices: z.infer<typeof ratesSchema>): Rates | undefined {
  const { input_mtok: input, output_mtok: output, cache_read_mtok: read, cache_write_mtok: write } = prices
  if (input === undefined || output === undefined) return undefined
  const { input_audio_mtok: audio, cache_write_1h_mtok: hour, requests_kcount: requests } = prices
  return {
    input: microdollars(input),
    output: microdollars(output),
    ...(audio !== undefined && audio !== input && { inputAudio: microdollars(audio) }),
    ...(read !== undefined && { cached: microdollars(read) }),
    ...(write !== undefined && { cacheWrite: microdollars(write) }),
    ...(hour !== undefined && { cacheWrite1h: microdollars(hour) }),
    ...(requests !== undefined && { request: microdollars(requests / 1000) }),
  }
}
