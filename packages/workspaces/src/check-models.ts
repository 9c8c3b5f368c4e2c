import type { Logger } from '@signalbox/core/runtime'
import type { Provider } from '@signalbox/dialects/protocol'
import { hostedTools, type Model, type Offer, type Price } from '@signalbox/dialects/protocol'
import { checkOptionTable, inSource, type OptionTableOf } from '@signalbox/storage/option-table'
import { similarNames } from '@signalbox/storage/similar-names'

/**
 * Throws a TypeError that names the first fault: a name that cannot be requested, an offer in a dialect that its provider does not
 * support, or a price that is not in whole microdollars. `where` is the function that was given the models.
 */
export function checkModels(models: readonly Model[], providers: readonly Provider[], where: string): void {
  for (const { id, hostSurcharges = [] } of providers) {
    const odd = hostSurcharges.find(({ percent = 100 }) => !isRaise(percent))
    if (odd) throw new TypeError(`${where}: "${id}" has a surcharge of ${inSource(odd.percent)} at "${odd.host}"; it ${takesPercent}.`)
  }
  const spoken = new Map(providers.map(({ id, dialects }) => [id, dialects.map(({ name }) => name)]))
  for (const [at, model] of models.entries()) {
    checkShape(model, at, where)
    const { id, aliases = [], offers } = model
    const place = id === '' ? 'a model has "" as its `id`' : aliases.includes('') ? `"${id}" has "" among its \`aliases\`` : undefined
    if (place !== undefined) throw new TypeError(`${where}: ${place}; it takes a name that requests can use.`)
    const end = [model, ...offers].find(({ retiresAt }) => retiresAt !== undefined && !isDay(retiresAt))?.retiresAt
    if (end !== undefined) throw new TypeError(`${where}: "${id}" has "${end}" as a \`retiresAt\`; it takes a date, as in "2027-01-14".`)
    for (const offer of offers) {
      const fault = apiFault(offer, spoken.get(offer.provider)) ?? mispriced(offer)
      if (fault !== undefined) throw new TypeError(`${where}: an offer of "${id}" ${fault}`)
    }
  }
}

const modelTable: OptionTableOf<Model> = {
  id: 'text',
  aliases: 'list',
  family: 'text',
  displayName: 'text',
  author: 'text',
  created: 'number',
  knowledgeCutoff: 'text',
  retiresAt: 'text',
  successor: 'text',
  status: 'text',
  openWeights: 'flag',
  inputModalities: 'list',
  outputModalities: 'list',
  capabilities: 'list',
  offers: 'list',
}

const offerTable: OptionTableOf<Offer> = {
  provider: 'text',
  model: 'text',
  api: 'text',
  contextWindow: 'number',
  maxOutputTokens: 'number',
  maxInputTokens: 'number',
  status: 'text',
  retiresAt: 'text',
  source: 'text',
  asOf: 'text',
  regions: 'list',
  delivery: 'text',
  abilities: 'list',
  dataPolicy: 'text',
  price: 'object',
  quirks: 'object',
}

/** Throws if a model or an offer lacks a field or has an unknown one. */
function checkShape(model: Model, at: number, where: string): void {
  const place = `models[${at}]`
  checkOptionTable({ call: where, option: place }, model ?? null, modelTable)
  const lacks = (option: string, field: string): TypeError => new TypeError(`${where}: \`${option}.${field}\` is missing.`)
  if (model.id === undefined) throw lacks(place, 'id')
  if (model.offers === undefined) throw lacks(place, 'offers')
  for (const [index, offer] of model.offers.entries()) {
    const option = `${place}.offers[${index}]`
    checkOptionTable({ call: where, option }, offer ?? null, offerTable)
    for (const field of ['provider', 'model', 'api'] as const) if (offer[field] === undefined) throw lacks(option, field)
  }
}

/** Checks the API of an offer. An offer of an unknown provider is ignored. */
const apiFault = ({ provider, api }: Offer, supported: readonly string[] | undefined): string | undefined =>
  supported === undefined || supported.includes(api)
    ? undefined
    : `uses the API "${api}", which "${provider}" does not have; it has ${supported.join(', ')}.`

function mispriced({ provider, price, regions = [] }: Offer): string | undefined {
  const priced = [['price', price] as const, ...regions.map((region, index) => [`regions.${index}.price`, region.price] as const)]
  for (const [place, rates] of priced) {
    if (rates === undefined) continue
    const order = misordered(rates, place)
    if (order !== undefined) return `at "${provider}" ${order}`
    const numbers = numbersOf(rates, place)
    const wrong = numbers.find(([, value]) => !Number.isSafeInteger(value) || Number(value) < 0)
    if (wrong !== undefined)
      return `at "${provider}" has ${inSource(wrong[1])} as its \`${wrong[0]}\`; it takes whole microdollars per million tokens (2.50 USD is 2,500,000).`
    const raise = numbers.find(([part, value]) => part.endsWith('.percent') && !isRaise(Number(value)))
    if (raise !== undefined) return `at "${provider}" has ${inSource(raise[1])} as its \`${raise[0]}\`; it ${takesPercent}.`
    const unknownTool = unknownToolIn(numbers.map(([part]) => part))
    if (unknownTool !== undefined)
      return `at "${provider}" has \`${unknownTool}\`; the tools that are billed per call are ${hostedTools.join(', ')}.`
  }
  return undefined
}

/** A larger surcharge is a mistyped rate, and its amounts might not be exact. */
const maxPercent = 10_000
const takesPercent = `takes whole percent of the usual rates, from 100 to ${maxPercent}`
const isRaise = (percent: number): boolean => Number.isInteger(percent) && percent >= 100 && percent <= maxPercent

const isGrowing = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.slice(0, 10) === text

const timeOfDay = /^([01]\d|2[0-3]):[0-5]\d$/

/** A fault in the order of a price's parts, or in its times. */
function misordered({ tiers = [], windows, changes = [] }: Price, place: string): string | undefined {
  if (!isGrowing(tiers.map(({ over }) => over)))
    return `has \`${place}.tiers\` out of order; each \`over\` must be larger than the previous one.`
  for (const [at, { days = [1], from, to }] of (windows ?? []).entries()) {
    const time = [from, to].find(each => !timeOfDay.test(each))
    if (time !== undefined) return `has ${inSource(time)} in \`${place}.windows.${at}\`; it takes a time in UTC, as in "01:00".`
    if (days.length === 0 || days.some(day => !Number.isInteger(day) || day < 1 || day > 7))
      return `has \`${place}.windows.${at}.days\` that are not days; it takes numbers from 1 (Monday) to 7 (Sunday).`
  }
  const times = changes.map(({ from }) => Date.parse(from))
  if (times.some(Number.isNaN) || !isGrowing(times))
    return `has \`${place}.changes\` out of order; each \`from\` must be later than the previous one.`
  return changes.map(({ price }, index) => misordered(price, `${place}.changes.${index}.price`)).find(fault => fault !== undefined)
}

/** Fields of a price that are not amounts. */
const wordFields: ReadonlySet<string> = new Set(['days', 'from', 'to', 'field', 'value'])

/** Every number of a price by its path, as in `price.tiers.0.input`. Without rates for both input and output there is no price. */
const numbersOf = (rates: object, place: string): readonly (readonly [string, unknown])[] =>
  Object.entries({ ...(needsRates(rates, place) && { input: undefined, output: undefined }), ...rates }).flatMap(([part, value]) => {
    if (wordFields.has(part)) return []
    return typeof value === 'object' && value !== null ? numbersOf(value, `${place}.${part}`) : [[`${place}.${part}`, value] as const]
  })

/** Whether input and output rates are required. Changes, surcharges and hosted tool prices have other parts. */
const needsRates = (rates: object, place: string): boolean => !Array.isArray(rates) && !/\.(tools|(?:changes|surcharges)\.\d+)$/.test(place)

/** The path of the first price for an unknown kind of hosted tool, which would never be charged. */
const unknownToolIn = (places: readonly string[]): string | undefined =>
  places.find(place => place.includes('.tools.') && !hostedTools.some(tool => place.endsWith(`.tools.${tool}`)))

/**
 * Logs once what is allowed but looks like a mistake: an offer of an unknown provider, a model without offers, and a price that seems to
 * be in dollars. These are not errors, because gateways with different providers may share models.
 */
export function tellStrays(models: readonly Model[], providers: readonly Provider[], logger: Logger): void {
  const known = new Set(providers.map(({ id }) => id))
  const strays = models.flatMap(({ id, offers }) => offers.flatMap(({ provider }) => (known.has(provider) ? [] : [{ id, provider }])))
  const [stray] = strays
  if (stray) {
    const [nearest] = similarNames(stray.provider, [...known])
    logger.warn(
      { model: stray.id, provider: stray.provider, ...(nearest !== undefined && { nearest }), offers: strays.length },
      'Some offers name providers that this gateway does not have, such as this one; they cannot be used.',
    )
  }
  // A retired model may be listed only so that its name is recognized.
  const withoutOffers = models.filter(({ offers, retiresAt }) => offers.length === 0 && retiresAt === undefined)
  const [first] = withoutOffers
  if (first)
    logger.warn({ model: first.id, models: withoutOffers.length }, 'Some models have no offers, such as this one; they cannot be used.')
  const cheap = models.flatMap(({ id, offers }) => offers.flatMap(({ provider, price }) => (isInDollars(price) ? [{ id, provider }] : [])))
  const [one] = cheap
  if (one)
    logger.warn(
      { model: one.id, provider: one.provider, offers: cheap.length },
      'Some prices look like dollars, such as those of this offer, but prices are microdollars per million tokens. Write 2.50 USD as 2_500_000 or usd(2.5).',
    )
}

/** No vendor sells a million tokens for less than a tenth of a cent. */
const leastPrice = 1_000

const isInDollars = (price: Price | undefined): boolean =>
  [price?.input, price?.output].some(rate => rate !== undefined && rate > 0 && rate < leastPrice)

const wayIn = ({ id, account }: Provider): string => `${account?.options ?? '`apiKey`'} of "${id}"`

/** Logs the providers of the models that have no credential. Returns whether that is all of them. */
export function tellKeyless(models: readonly Model[], providers: readonly Provider[], logger: Logger): boolean {
  const offered = new Set(models.flatMap(({ offers }) => offers.map(({ provider }) => provider)))
  const used = providers.filter(({ id }) => offered.has(id))
  const keyless = used.filter(({ credential }) => credential === undefined)
  if (keyless.length > 0)
    logger.warn(
      { providers: keyless.map(({ id }) => id) },
      `Some providers are disabled because they have no key. Set ${keyless.map(wayIn).join('; ')}; or remove them.`,
    )
  return keyless.length > 0 && keyless.length === used.length
}
