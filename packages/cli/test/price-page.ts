import type { Offer, Price } from '@signalbox/dialects/protocol'

// The cost of a request by its price page, computed by hand: without product code, and with exact fractions.

/** The usage that a provider reports for a request. Tokens, and calls of hosted tools by kind. */
export interface Consumption {
  /** The whole prompt: cache reads and writes included. */
  readonly prompt: number
  /** Of it, sound that was not read from a cache. */
  readonly sound: number
  readonly read: number
  readonly written: number
  /** The part of cache writes that is kept for an hour. */
  readonly writtenForHour: number
  /** The whole response, reasoning included. */
  readonly answer: number
  readonly calls: Readonly<Record<string, number>>
}

/** The purchase and its time. */
export interface Purchase {
  /** Unix milliseconds. */
  readonly at: number
  readonly isPriority: boolean
  /** What raises the price, by field: `{ inference_geo: 'us' }`. */
  readonly extras: Readonly<Record<string, string>>
  /** What tokens cost in the tier that was bought, in percent of the page. */
  readonly flexPercent: number
  /** What tokens cost at the host that was called, in percent of the page. */
  readonly hostPercent: number
}

type Sheet = Omit<Price, 'changes' | 'windows'>

/** Microdollars. */
export function priceByThePage(offer: Offer, used: Consumption, bought: Purchase): number {
  const page = pageAt(offer.price as Price, bought.at)
  const line = lineOf(page, used.prompt, bought.isPriority)
  const raises = (page.surcharges ?? []).filter(({ field, value }) => bought.extras[field] === value)
  // Each raise is rounded up to a whole rate.
  const raised = (rate: number): number =>
    [...raises, { percent: bought.flexPercent }, { percent: bought.hostPercent }].reduce(
      (before, { percent }) => Number((BigInt(before) * BigInt(percent) + 99n) / 100n),
      rate,
    )
  const usual = used.prompt - used.sound - used.read - used.written
  const shortLived = used.written - used.writtenForHour
  const charged: readonly (readonly [tokens: number, rate: number])[] = [
    [usual, line.input],
    [used.sound, line.inputAudio ?? line.input],
    [used.read, line.cached ?? line.input],
    [shortLived, line.cacheWrite ?? line.input],
    [used.writtenForHour, line.cacheWrite1h ?? line.input * 2],
    [used.answer, line.output],
  ]
  const millionths = charged.reduce((sum, [tokens, rate]) => sum + BigInt(tokens) * BigInt(raised(rate)), 0n)
  const tokens = (millionths + 999_999n) / 1_000_000n
  const fees = Object.entries(used.calls).map(
    ([tool, count]) => BigInt(count) * BigInt((line.tools as Record<string, number>)?.[tool] ?? 0),
  )
  return Number(fees.reduce((sum, fee) => sum + fee, tokens + BigInt(line.request ?? 0)))
}

/** The page that is valid: the last one whose date has been reached, and on it the first hours that hold. */
function pageAt(price: Price, at: number): Sheet {
  let page: Sheet & Pick<Price, 'windows'> = price
  for (const { from, price: next } of price.changes ?? []) {
    const start = new Date(from.length === 10 ? `${from}T00:00:00Z` : from).getTime()
    if (start <= at) page = next
  }
  const now = new Date(at)
  const clock = now.toISOString().slice(11, 16)
  const today = now.getUTCDay() || 7
  const yesterday = today === 1 ? 7 : today - 1
  for (const { days, from, to, ...rates } of page.windows ?? []) {
    const on = (day: number): boolean => days === undefined || days.includes(day)
    const isSameDay = from < to
    const isOpen = isSameDay ? on(today) && clock >= from && clock < to : (on(today) && clock >= from) || (on(yesterday) && clock < to)
    if (isOpen) return { ...rates, ...(page.surcharges && { surcharges: page.surcharges }) }
  }
  return page
}

/** The line of the page for a prompt of this length. */
function lineOf(page: Sheet, prompt: number, isPriority: boolean): Sheet {
  const fast = page.priority
  if (isPriority && fast && (fast.upTo === undefined || prompt <= fast.upTo)) return fast
  let line: Sheet = page
  for (const tier of page.tiers ?? []) if (prompt > tier.over) line = tier
  return line
}
