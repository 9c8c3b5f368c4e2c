import type { OfferPrice, RouterOffer } from '../offer.ts'
import { type PreferencePrices, preferences } from '../preferences.ts'
import { accept, type Check, fields, flag, listOf, maybe, nullable, number, oneOfValues, text, wholeNumber } from './check-shape.ts'
import { type CandidateRecord, type DecisionRecord, estimateNames, type Outcome, type RequestRecord, type Trace } from './records.ts'

// The format of an exported trace: JSON of the version below. docs/routing.md describes it.

const traceVersion = 2

type FieldChecks<Value> = { readonly [field in keyof Required<Value>]: Check }

const each = <Name extends string>(inner: Check, ...names: readonly Name[]): Readonly<Record<Name, Check>> =>
  Object.fromEntries(names.map(name => [name, inner])) as Readonly<Record<Name, Check>>

const estimate = fields(each(number, ...Object.keys(estimateNames)))
const offerPrice = fields({
  ...each(number, 'input', 'output'),
  ...each(maybe(number), 'cached', 'cacheWrite', 'cacheWrite1h'),
} satisfies FieldChecks<OfferPrice>)
const offerShape = fields({
  id: text,
  provider: maybe(text),
  model: maybe(text),
  price: offerPrice,
  ...each(maybe(number), 'cacheMs'),
} satisfies FieldChecks<RouterOffer>)
const score = nullable(number)

const decision = fields({
  ...each(number, 'at', 'scale', 'waitMs'),
  ...each(maybe(number), 'timeoutMs', 'hedgeAfterMs'),
  requestNumber: wholeNumber,
  attempt: wholeNumber,
  strategy: oneOfValues([...Object.keys(preferences), 'prices', 'own']),
  prices: maybe(fields(each(number, 'waiting', 'generation', 'failure') satisfies FieldChecks<PreferencePrices>)),
  request: fields({
    ...each(number, 'inputTokens', 'outputTokens', 'turns'),
    ...each(maybe(number), 'timeLeftMs'),
    stream: flag,
  } satisfies FieldChecks<RequestRecord>),
  candidates: listOf(
    fields({
      offer: offerShape,
      estimate,
      score,
      rank: maybe(score),
      providerFailed: maybe(oneOfValues([true])),
    } satisfies FieldChecks<CandidateRecord>),
  ),
  omitted: wholeNumber,
  exploration: maybe(fields({ at: wholeNumber, estimate, score })),
  chosen: wholeNumber,
  reason: oneOfValues(['best', 'exploration', 'fallback', 'last_resort']),
  score,
  outcome: maybe(
    fields({
      ended: oneOfValues(['ok', 'error', 'timeout', 'rate_limited', 'credential', 'refused', 'left', 'broken']),
      ...each(number, 'sentAfterMs', 'totalMs'),
      ...each(maybe(number), 'firstContentMs', 'outputTokens', 'cachedTokens'),
    } satisfies FieldChecks<Outcome>),
  ),
} satisfies FieldChecks<DecisionRecord>)

const trace = fields({ seed: number, dropped: wholeNumber, decisions: listOf(decision) })

/**
 * Checks a trace, in time linear in its size.
 * @throws {TypeError} Names the invalid field.
 */
export function checkTrace(value: unknown): asserts value is Trace {
  fields({})(value, 'trace')
  const { version } = value as Readonly<Record<string, unknown>>
  if (version !== traceVersion)
    throw new TypeError(`This trace has version ${String(version)}; this version reads version ${traceVersion}.`)
  trace(value, 'trace')
  for (const [at, record] of (value as Trace).decisions.entries()) checkIndices(record, `trace.decisions[${at}]`)
}

function checkIndices({ candidates, chosen, exploration, reason, strategy, prices }: DecisionRecord, path: string): void {
  const index = accept(`an index of its ${candidates.length} candidates`, at => (at as number) < candidates.length)
  index(chosen, `${path}.chosen`)
  if (exploration) index(exploration.at, `${path}.exploration.at`)
  accept('the candidate that was chosen as an exploration', at => reason !== 'exploration' || at === chosen)(
    exploration?.at,
    `${path}.exploration.at`,
  )
  accept('the weights of its strategy', () => strategy === 'own' || prices !== undefined)(prices, `${path}.prices`)
}

/**
 * Encodes a trace as JSON text. Compressed, it takes about a tenth of the size.
 * @throws {TypeError} The value is not a trace.
 * @example await writeFile('decisions.json', encodeTrace(router.trace()))
 */
export function encodeTrace(trace: Trace): string {
  checkTrace(trace)
  return JSON.stringify(trace)
}

/**
 * Decodes the text or bytes that `encodeTrace` wrote.
 * @throws {TypeError} Says what is wrong with anything else.
 * @example replay(decodeTrace(await readFile('decisions.json')), 'cost')
 */
export function decodeTrace(from: string | Uint8Array): Trace {
  const value = parseTrace(from)
  checkTrace(value)
  return value
}

function parseTrace(from: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof from === 'string' ? from : new TextDecoder('utf-8', { fatal: true }).decode(from))
  } catch (error) {
    throw new TypeError('This is not a trace: it is not JSON.', { cause: error })
  }
}
