import type { Model, Offer, Price, PriceWindow } from '@signalbox/dialects/protocol'
import { dayMs } from '@signalbox/dialects/protocol'

// Applies the announced changes of a catalog as of a given time: prices by date and time of day, and ends of offers.

/** The models as of a given time. Models without announced changes are the same objects. */
export interface ModelsAt {
  readonly models: readonly Model[]
  /** Unix milliseconds of the next change. `Infinity` if none is announced. */
  readonly until: number
}

/** Offers that end within this time rank below others. */
const yieldMs = 30 * dayMs

/**
 * Resolves prices and retirements for a moment, in Unix milliseconds.
 *
 * @example modelsAt([{ id: 'm', retiresAt: '2027-01-14', offers }], Date.parse('2027-01-15T00:00Z')).models[0]?.status // 'retired'
 */
export function modelsAt(models: readonly Model[], now: number): ModelsAt {
  let until = Number.POSITIVE_INFINITY
  const note = (moment: number): void => {
    if (moment > now && moment < until) until = moment
  }
  return { models: models.map(model => modelAt(model, now, note)), until }
}

/** Records a time at which something changes, before or after now. */
type Note = (moment: number) => void

function modelAt(model: Model, now: number, note: Note): Model {
  const end = endOf(model.retiresAt)
  const offers = model.offers.flatMap(offer => offerAt(offer, { now, note, modelEnd: end }) ?? [])
  if (offers.length === 0 && (model.offers.length > 0 || end <= now)) return { ...model, offers, status: 'retired' }
  return offers.length === model.offers.length && offers.every((offer, index) => offer === model.offers[index])
    ? model
    : { ...model, offers }
}

/** The end of a day in Unix milliseconds. `Infinity` if there is no date. */
const endOf = (day: string | undefined): number => (day === undefined ? Number.POSITIVE_INFINITY : Date.parse(day) + dayMs)

interface OfferContext {
  readonly now: number
  readonly note: Note
  /** Unix milliseconds at which the model retires. */
  readonly modelEnd: number
}

/** The offer at a time. Undefined if it is no longer sold. */
function offerAt(offer: Offer, { now, note, modelEnd }: OfferContext): Offer | undefined {
  const end = offer.retiresAt === undefined ? modelEnd : endOf(offer.retiresAt)
  note(end)
  if (end <= now) return undefined
  note(end - yieldMs)
  const yields = end - yieldMs <= now && offer.status !== 'deprecated'
  const price = offer.price && priceAt(offer.price, now, note)
  const regions = offer.regions?.map(region => {
    const own = region.price && priceAt(region.price, now, note)
    return own === region.price ? region : { ...region, ...(own && { price: own }) }
  })
  const isSame = price === offer.price && regions?.every((region, index) => region === offer.regions?.[index]) !== false
  if (isSame && !yields) return offer
  return { ...offer, ...(price && { price }), ...(regions && { regions }), ...(yields && { status: 'deprecated' }) }
}

/** The price at a time, including its later announced changes. A price that does not change is returned as is. */
function priceAt(price: Price, now: number, note: Note): Price {
  const begun = (price.changes ?? []).filter(({ from }) => Date.parse(from) <= now)
  for (const { from } of price.changes ?? []) note(Date.parse(from))
  const changes = price.changes?.slice(begun.length) ?? []
  const last = begun.at(-1)
  const current: Price = last ? { ...last.price, changes: changes.length > 0 ? changes : undefined } : price
  for (const window of current.windows ?? []) noteBounds(window, now, note)
  const open = current.windows?.find(window => isOpen(window, now))
  if (!open) return current
  const { days: _days, from: _from, to: _to, ...rates } = open
  const { windows, surcharges } = current
  return { ...rates, windows, surcharges, changes: changes.length > 0 ? changes : undefined }
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

/** Start and end of a window in milliseconds since midnight. The end of a window that spans midnight is above 24 hours. */
function boundsOf({ from, to }: PriceWindow): { readonly opens: number; readonly closes: number } {
  const opens = minutesOf(from) * 60_000
  const closes = minutesOf(to) * 60_000
  return { opens, closes: closes <= opens ? closes + dayMs : closes }
}

/** The weekday of a day that begins at this time: 1 is Monday. 1970-01-01 was a Thursday. */
const weekday = (midnight: number): number => ((((midnight / dayMs + 3) % 7) + 7) % 7) + 1

const opensOn = ({ days }: PriceWindow, midnight: number): boolean => days === undefined || days.includes(weekday(midnight))

function isOpen(window: PriceWindow, now: number): boolean {
  const { opens, closes } = boundsOf(window)
  const today = Math.floor(now / dayMs) * dayMs
  return [today - dayMs, today].some(day => opensOn(window, day) && now >= day + opens && now < day + closes)
}

/** The next start is at most a week away. */
function noteBounds(window: PriceWindow, now: number, note: Note): void {
  const { opens, closes } = boundsOf(window)
  const today = Math.floor(now / dayMs) * dayMs
  for (let day = -1; day <= 7; day++) {
    const midnight = today + day * dayMs
    if (!opensOn(window, midnight)) continue
    note(midnight + opens)
    note(midnight + closes)
  }
}
