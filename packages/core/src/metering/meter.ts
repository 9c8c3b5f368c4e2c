import { type InferenceEvent, isPreamble } from '../protocol/event.ts'
import type { Item } from '../protocol/item.ts'
import type { InferenceResponse, Outcome, Usage } from '../protocol/response.ts'
import type { Clock } from '../runtime/ports.ts'

/** What an answer has come to. */
export interface MeteredAnswer {
  /** Absent where the answer was left before its end. */
  readonly outcome?: Outcome
  readonly usage?: Usage
  /** Characters of text, reasoning, arguments and refusals that were handed on. */
  readonly characters: number
  /** Of those, thoughts. */
  readonly thoughtCharacters: number
  /** Something was handed on that has no characters: a picture, what a tool of the provider's found. */
  readonly hasNative?: boolean
  /** Monotonic milliseconds. */
  readonly firstContentAt?: number
  /** Thoughts came, readable or sealed. */
  readonly hasThoughts?: boolean
  /** When the client left, in monotonic milliseconds. What is known of the end is from reading on without it. */
  readonly leftAt?: number
  /** Monotonic milliseconds: the first text that was handed on to a client that has left. */
  readonly firstTextAt?: number
  /** Milliseconds of thoughts and of what has no characters between that text and the leaving. */
  readonly laterThoughtMs?: number
}

/** Counts what passes of one answer. */
export interface Meter {
  readonly clock: Pick<Clock, 'monotonic'>
  characters: number
  thoughtCharacters: number
  hasNative: boolean
  /** Monotonic milliseconds. */
  firstContentAt: number | undefined
  finished: { readonly outcome: Outcome; readonly usage?: Usage } | undefined
  hasThoughts: boolean
  /** What comes now is no text: from the start, from where thoughts or something without characters begin. */
  isThinking: boolean
  firstTextAt: number | undefined
  /** Monotonic milliseconds: thoughts after the first text have begun. */
  thinkingSince: number
  laterThoughtMs: number
  left: (Pick<MeteredAnswer, 'characters' | 'firstTextAt' | 'laterThoughtMs'> & { readonly leftAt: number }) | undefined
}

export const createMeter = (clock: Pick<Clock, 'monotonic'>): Meter => ({
  clock,
  characters: 0,
  thoughtCharacters: 0,
  hasNative: false,
  firstContentAt: undefined,
  finished: undefined,
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
    if (kind === 'reasoning') meter.thoughtCharacters += text.length
    const isThought = kind === 'reasoning' || kind === 'summary'
    if ((meter.firstContentAt === undefined || isThought !== meter.isThinking) && text !== '') startContent(meter, isThought)
    return
  }
  if (event.type === 'finished') {
    meter.finished = event
    return
  }
  const isUnseen = 'item' in event && (event.item.type === 'reasoning' || event.item.type === 'native')
  if (isUnseen && !meter.isThinking) turn(meter, true, meter.clock.monotonic())
  if (isPreamble(event)) return
  // Pictures and hidden thoughts are content too, though they come whole.
  meter.firstContentAt ??= meter.clock.monotonic()
  if (event.type !== 'item_finished') return
  meter.hasNative ||= event.item.type === 'native'
  meter.hasThoughts ||= event.item.type === 'reasoning'
}

/** The first text or thoughts, or text after thoughts, or thoughts after text. */
function startContent(meter: Meter, isThought: boolean): void {
  const now = meter.clock.monotonic()
  meter.firstContentAt ??= now
  meter.hasThoughts ||= isThought
  if (isThought !== meter.isThinking) turn(meter, isThought, now)
}

/** Text follows thoughts, or they follow text; `now` is monotonic. */
function turn(meter: Meter, isThinking: boolean, now: number): void {
  meter.isThinking = isThinking
  if (isThinking) meter.thinkingSince = now
  else if (meter.firstTextAt === undefined) meter.firstTextAt = now
  else meter.laterThoughtMs += now - meter.thinkingSince
}

/** The same for an answer that came whole. */
export function meterResponse(meter: Meter, response: InferenceResponse): void {
  for (const item of response.output) meterItem(meter, item)
  if (response.output.length > 0) meter.firstContentAt = meter.clock.monotonic()
  meter.finished = response
}

function meterItem(meter: Meter, item: Item): void {
  if (item.type === 'native') meter.hasNative = true
  else if (item.type === 'function_call') meter.characters += item.arguments.length
  else if (item.type === 'reasoning') {
    for (const text of item.summary) meter.characters += text.length
    for (const text of item.content ?? []) {
      meter.characters += text.length
      meter.thoughtCharacters += text.length
    }
  } else if (item.type === 'message')
    for (const part of item.content)
      meter.characters += part.type === 'text' ? part.text.length : part.type === 'refusal' ? part.refusal.length : 0
}

/** The client leaves now: what comes later is looked at, and was not handed on. */
export function meterLeft(meter: Meter): void {
  const { clock, characters, firstTextAt, isThinking, thinkingSince, laterThoughtMs } = meter
  const leftAt = clock.monotonic()
  const thinkingMs = isThinking && firstTextAt !== undefined ? leftAt - thinkingSince : 0
  const first = firstTextAt !== undefined && { firstTextAt }
  meter.left = { leftAt, characters, ...first, laterThoughtMs: laterThoughtMs + thinkingMs }
}

export const meteredAnswer = ({
  characters,
  thoughtCharacters,
  hasNative,
  hasThoughts,
  firstContentAt,
  finished,
  left,
}: Meter): MeteredAnswer => ({
  characters,
  thoughtCharacters,
  ...(hasNative && { hasNative }),
  ...(hasThoughts && { hasThoughts }),
  ...(firstContentAt !== undefined && { firstContentAt }),
  ...(finished && { outcome: finished.outcome }),
  ...(finished?.usage && { usage: finished.usage }),
  ...left,
})
