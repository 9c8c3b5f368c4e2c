import { hostedToolOf, oneCallMore } from '../dialects/usage.ts'
import { type InferenceEvent, isPreamble } from '../protocol/event.ts'
import type { Item } from '../protocol/item.ts'
import type { HostedCalls, InferenceResponse, Outcome, Usage } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import type { Clock } from '../runtime/ports.ts'
import { addPiece, likelyTokens, noText, type TextWeights } from './max-tokens.ts'

/** What an answer has come to. */
export interface MeteredAnswer {
  /** Absent where the answer was left before its end. */
  readonly outcome?: Outcome
  readonly usage?: Usage
  /** As the provider stated it at the beginning of the answer: its input is that of the request. */
  readonly startUsage?: Usage
  /** As the provider stated it last, of an answer that was left before its end. */
  readonly usageSoFar?: Usage
  /** Calls of hosted tools that were handed on. Absent: none, or the usage is known. */
  readonly hostedCalls?: HostedCalls
  /** Characters of text, reasoning, arguments and refusals that were handed on. */
  readonly characters: number
  /** Likely tokens of those characters. Absent where the usage is known. */
  readonly tokens?: number
  /** Of the characters, thoughts. */
  readonly thoughtCharacters: number
  /** Something was handed on that has no characters: a picture, what a tool of the provider's found. */
  readonly hasNative?: boolean
  /** Monotonic milliseconds. */
  readonly firstContentAt?: number
  /** Thoughts came, readable or sealed. */
  readonly hasThoughts?: boolean
  /** When the client left, in monotonic milliseconds. What is known of the end is from reading on without it. */
  readonly leftAt?: number
  /** Milliseconds until it left in which it took nothing. Absent: none. */
  readonly pausedMs?: number
  /** Monotonic milliseconds, less the pauses before: the first text that was handed on to a client that has left. */
  readonly firstTextAt?: number
  /** Milliseconds of thoughts and of what has no characters between that text and the leaving, without pauses. */
  readonly laterThoughtMs?: number
}

/** The pauses of the reader of a stream, as they grow. */
export interface ReaderPauses {
  /** Milliseconds of those that are over. */
  readonly pausedMs: number
  /** Monotonic milliseconds: it is paused since then. */
  readonly pausedAt: number | undefined
}

const noPauses: ReaderPauses = { pausedMs: 0, pausedAt: undefined }

/** Counts what passes of one answer. */
export interface Meter {
  readonly clock: Pick<Clock, 'monotonic'>
  /** Time in which the client took nothing is its own: no thoughts are estimated for it. */
  readonly pauses: ReaderPauses
  characters: number
  /** What likely tokens are counted from: a word in two deltas is one word. */
  readonly counted: TextWeights
  thoughtCharacters: number
  hasNative: boolean
  /** Monotonic milliseconds. */
  firstContentAt: number | undefined
  finished: { readonly outcome: Outcome; readonly usage?: Usage } | undefined
  startUsage: Usage | undefined
  usageSoFar: Usage | undefined
  hostedCalls: HostedCalls | undefined
  hasThoughts: boolean
  /** What comes now is no text: from the start, from where thoughts or something without characters begin. */
  isThinking: boolean
  /** Monotonic milliseconds, less the pauses before. */
  firstTextAt: number | undefined
  /** The same of when thoughts after the first text began. */
  thinkingSince: number
  laterThoughtMs: number
  left:
    | (Pick<MeteredAnswer, 'characters' | 'tokens' | 'thoughtCharacters' | 'pausedMs' | 'firstTextAt' | 'laterThoughtMs'> & {
        readonly leftAt: number
      })
    | undefined
}

export const createMeter = (clock: Pick<Clock, 'monotonic'>, pauses: ReaderPauses = noPauses): Meter => ({
  clock,
  pauses,
  characters: 0,
  counted: noText(),
  thoughtCharacters: 0,
  hasNative: false,
  firstContentAt: undefined,
  finished: undefined,
  startUsage: undefined,
  usageSoFar: undefined,
  hostedCalls: undefined,
  hasThoughts: false,
  isThinking: true,
  firstTextAt: undefined,
  thinkingSince: 0,
  laterThoughtMs: 0,
  left: undefined,
})

export function meterEvent(meter: Meter, event: InferenceEvent): void {
  if (event.type === 'delta' && event.delta.kind !== 'annotation') {
    const { kind, text } = event.delta
    meter.characters += text.length
    addPiece(meter.counted, text)
    if (kind === 'reasoning') meter.thoughtCharacters += text.length
    const isThought = kind === 'reasoning' || kind === 'summary'
    if ((meter.firstContentAt === undefined || isThought !== meter.isThinking) && text !== '') startContent(meter, isThought)
    return
  }
  if (event.type === 'finished') {
    meter.finished = event
    return
  }
  if (event.type === 'started') meter.startUsage = event.usage
  const isUnseen = 'item' in event && (event.item.type === 'reasoning' || event.item.type === 'native')
  if (isUnseen && !meter.isThinking) turn(meter, true, meter.clock.monotonic() - meter.pauses.pausedMs)
  if (isPreamble(event)) return
  // Pictures and hidden thoughts are content too, though they come whole.
  meter.firstContentAt ??= meter.clock.monotonic()
  if (event.type !== 'item_finished') return
  if (event.item.type === 'native') meterNative(meter, event.item.body)
  meter.hasThoughts ||= event.item.type === 'reasoning'
}

/** The first text or thoughts, or text after thoughts, or thoughts after text. */
function startContent(meter: Meter, isThought: boolean): void {
  const now = meter.clock.monotonic()
  meter.firstContentAt ??= now
  meter.hasThoughts ||= isThought
  if (isThought !== meter.isThinking) turn(meter, isThought, now - meter.pauses.pausedMs)
}

/** Text follows thoughts, or they follow text; `now` is monotonic, less the pauses before. */
function turn(meter: Meter, isThinking: boolean, now: number): void {
  meter.isThinking = isThinking
  if (isThinking) meter.thinkingSince = now
  else if (meter.firstTextAt === undefined) meter.firstTextAt = now
  else meter.laterThoughtMs += now - meter.thinkingSince
}

/** The same for an answer that came whole. */
export function meterResponse(meter: Meter, response: InferenceResponse): void {
  for (const item of response.output) {
    const received = meterItem(meter, item)
    meter.characters += received.length
    if (!response.usage) addPiece(meter.counted, received)
  }
  if (response.output.length > 0) meter.firstContentAt = meter.clock.monotonic()
  meter.finished = response
}

/** Returns the text of the item. */
function meterItem(meter: Meter, item: Item): string {
  let received = ''
  if (item.type === 'native') meterNative(meter, item.body)
  else if (item.type === 'function_call') received = item.arguments
  else if (item.type === 'reasoning') {
    for (const text of item.summary) received += text
    for (const text of item.content ?? []) {
      received += text
      meter.thoughtCharacters += text.length
    }
  } else if (item.type === 'message')
    for (const part of item.content) received += part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : ''
  return received
}

function meterNative(meter: Meter, body: JsonObject): void {
  meter.hasNative = true
  const tool = hostedToolOf(body)
  if (tool) meter.hostedCalls = oneCallMore(meter.hostedCalls, tool)
}

/** The client leaves now: what comes later is looked at, and was not handed on. */
export function meterLeft(meter: Meter): void {
  const { clock, pauses, characters, thoughtCharacters, firstTextAt, isThinking, thinkingSince, laterThoughtMs } = meter
  const leftAt = clock.monotonic()
  const pausedMs = pauses.pausedMs + (pauses.pausedAt === undefined ? 0 : leftAt - pauses.pausedAt)
  const tokens = likelyTokens(meter.counted)
  const thinkingMs = isThinking && firstTextAt !== undefined ? leftAt - pausedMs - thinkingSince : 0
  const times = {
    laterThoughtMs: laterThoughtMs + thinkingMs,
    ...(pausedMs > 0 && { pausedMs }),
    ...(firstTextAt !== undefined && { firstTextAt }),
  }
  meter.left = { leftAt, characters, tokens, thoughtCharacters, ...times }
}

/** The answer is left, and its end did not come: `closing` is what its decoder makes of what did. */
export function meterUnfinished(meter: Meter, closing: readonly InferenceEvent[]): void {
  const last = closing.at(-1)
  if (last?.type === 'finished') meter.usageSoFar = last.usage
}

export function meteredAnswer(meter: Meter): MeteredAnswer {
  const { characters, thoughtCharacters, hasNative, hasThoughts, firstContentAt, finished, left } = meter
  return {
    characters,
    thoughtCharacters,
    ...(hasNative && { hasNative }),
    ...(hasThoughts && { hasThoughts }),
    ...(firstContentAt !== undefined && { firstContentAt }),
    ...(finished && { outcome: finished.outcome }),
    ...(finished?.usage ? { usage: finished.usage } : countedSoFar(meter)),
    ...left,
  }
}

/** What stands in for the usage of the provider. */
function countedSoFar(meter: Meter): Pick<MeteredAnswer, 'tokens' | 'startUsage' | 'usageSoFar' | 'hostedCalls'> {
  const { startUsage, usageSoFar, hostedCalls } = meter
  const stated = { ...(startUsage && { startUsage }), ...(usageSoFar && { usageSoFar }) }
  return { tokens: likelyTokens(meter.counted), ...stated, ...(hostedCalls && { hostedCalls }) }
}
