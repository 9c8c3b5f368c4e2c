import { hostedToolOf, oneCallMore } from '@signalbox/dialects/common'
import type { HostedCalls, InferenceResponse, Item, JsonObject, Outcome, Usage } from '@signalbox/dialects/protocol'
import { type InferenceEvent, isPreamble } from '@signalbox/dialects/protocol'
import type { Clock } from '../runtime/ports.ts'
import { addPiece, likelyTokens, noText, type TextWeights } from './max-tokens.ts'

/** What has been measured of a response. */
export interface MeteredAnswer {
  /** Undefined if the response was abandoned before its end. */
  readonly outcome?: Outcome
  readonly usage?: Usage
  /** Usage that the provider reported at the start of the response: its input counts apply. */
  readonly startUsage?: Usage
  /** The latest usage that the provider reported, if the response was abandoned before its end. */
  readonly usageSoFar?: Usage
  /** Calls of hosted tools delivered to the client. Undefined if there were none, or if the usage is known. */
  readonly hostedCalls?: HostedCalls
  /** Characters of text, reasoning, arguments and refusals delivered to the client. */
  readonly characters: number
  /** Likely tokens of those characters. Undefined if the usage is known. */
  readonly tokens?: number
  /** How many of the characters are reasoning. */
  readonly reasoningCharacters: number
  /** Content without characters was delivered, such as an image or the result of a hosted tool. */
  readonly hasNative?: boolean
  /** Monotonic milliseconds. */
  readonly firstContentAt?: number
  /** Reasoning arrived, readable or encrypted. */
  readonly hasReasoning?: boolean
  /** The code of an error of the gateway that ended the response. */
  readonly errorCode?: string
  /** When the client disconnected, in monotonic milliseconds. Later facts come from reading on without it. */
  readonly leftAt?: number
  /** When a stream was cut at its output cap, so that its usage is unknown: monotonic milliseconds. */
  readonly cutAt?: number
  /** Milliseconds before `leftAt` or `cutAt` in which the client did not read. Undefined if none. */
  readonly pausedMs?: number
  /** If there is a `leftAt` or `cutAt`: when the first text was delivered, in monotonic milliseconds, minus the pauses before. */
  readonly firstTextAt?: number
  /** Milliseconds of reasoning and of content without characters from the first text to `leftAt` or `cutAt`, without pauses. */
  readonly laterReasoningMs?: number
}

/** Times of a stream, in monotonic milliseconds, updated as they happen. */
export interface ReaderPauses {
  /** When the latest content arrived. Undefined if that is not recorded. */
  readonly heardAt?: number
  /** Total milliseconds of finished pauses. */
  readonly pausedMs: number
  /** When the current pause began, in monotonic milliseconds. Undefined if not paused. */
  readonly pausedAt: number | undefined
}

const noPauses: ReaderPauses = { pausedMs: 0, pausedAt: undefined }

/** Measures one response as its events pass. */
export interface Meter {
  readonly clock: Pick<Clock, 'monotonic'>
  /** No reasoning is estimated for time in which the client did not read. */
  readonly pauses: ReaderPauses
  characters: number
  /** Basis of the likely tokens: a word split over two deltas counts as one. */
  readonly counted: TextWeights
  reasoningCharacters: number
  hasNative: boolean
  /** Monotonic milliseconds. */
  firstContentAt: number | undefined
  finished: { readonly outcome: Outcome; readonly usage?: Usage } | undefined
  startUsage: Usage | undefined
  usageSoFar: Usage | undefined
  hostedCalls: HostedCalls | undefined
  hasReasoning: boolean
  /** The current content is not text: true at the start, and while reasoning or content without characters arrives. */
  isThinking: boolean
  /** Monotonic milliseconds, minus the pauses before. */
  firstTextAt: number | undefined
  /** When reasoning after the first text began, in the same unit. */
  thinkingSince: number
  laterReasoningMs: number
  left: (Pick<MeteredAnswer, 'characters' | 'tokens' | 'reasoningCharacters'> & ReasoningTimes & { readonly leftAt: number }) | undefined
}

export const createMeter = (clock: Pick<Clock, 'monotonic'>, pauses: ReaderPauses = noPauses): Meter => ({
  clock,
  pauses,
  characters: 0,
  counted: noText(),
  reasoningCharacters: 0,
  hasNative: false,
  firstContentAt: undefined,
  finished: undefined,
  startUsage: undefined,
  usageSoFar: undefined,
  hostedCalls: undefined,
  hasReasoning: false,
  isThinking: true,
  firstTextAt: undefined,
  thinkingSince: 0,
  laterReasoningMs: 0,
  left: undefined,
})

export function meterBatch(meter: Meter, batch: readonly InferenceEvent[]): void {
  // Indexed, like all loops of a delta: an iterator would be garbage of each.
  for (let place = 0; place < batch.length; place += 1) meterEvent(meter, batch[place] as InferenceEvent)
}

export function meterEvent(meter: Meter, event: InferenceEvent): void {
  if (event.type === 'delta' && event.delta.kind !== 'annotation') {
    const { kind, text } = event.delta
    meter.characters += text.length
    addPiece(meter.counted, text)
    if (kind === 'reasoning') meter.reasoningCharacters += text.length
    const isReasoning = kind === 'reasoning' || kind === 'summary'
    if ((meter.firstContentAt === undefined || isReasoning !== meter.isThinking) && text !== '') startContent(meter, isReasoning)
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
  // Images and hidden reasoning are content too, though they arrive whole.
  meter.firstContentAt ??= meter.clock.monotonic()
  if (event.type !== 'item_finished') return
  if (event.item.type === 'native') meterNative(meter, event.item.body)
  meter.hasReasoning ||= event.item.type === 'reasoning'
}

/** Records the first content, and each change between text and reasoning. */
function startContent(meter: Meter, isReasoning: boolean): void {
  const now = meter.pauses.heardAt ?? meter.clock.monotonic()
  meter.firstContentAt ??= now
  meter.hasReasoning ||= isReasoning
  if (isReasoning !== meter.isThinking) turn(meter, isReasoning, now - meter.pauses.pausedMs)
}

/** Switches between text and reasoning; `now` is monotonic, minus the pauses before. */
function turn(meter: Meter, isThinking: boolean, now: number): void {
  meter.isThinking = isThinking
  if (isThinking) meter.thinkingSince = now
  else if (meter.firstTextAt === undefined) meter.firstTextAt = now
  else meter.laterReasoningMs += now - meter.thinkingSince
}

/** Measures a complete response. */
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
      meter.reasoningCharacters += text.length
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

type ReasoningTimes = Pick<MeteredAnswer, 'pausedMs' | 'firstTextAt' | 'laterReasoningMs'>

/** What the output without text is estimated from, if the response stops at `now` without usage. */
function reasoningTimes({ pauses, firstTextAt, isThinking, thinkingSince, laterReasoningMs }: Meter, now: number): ReasoningTimes {
  const pausedMs = pauses.pausedMs + (pauses.pausedAt === undefined ? 0 : now - pauses.pausedAt)
  const thinkingMs = isThinking && firstTextAt !== undefined ? now - pausedMs - thinkingSince : 0
  return {
    laterReasoningMs: laterReasoningMs + thinkingMs,
    ...(pausedMs > 0 && { pausedMs }),
    ...(firstTextAt !== undefined && { firstTextAt }),
  }
}

/** Records that the client disconnected: later events are observed, but not counted as delivered. */
export function meterLeft(meter: Meter): void {
  const { clock, characters, reasoningCharacters, counted } = meter
  const leftAt = clock.monotonic()
  meter.left = { leftAt, characters, tokens: likelyTokens(counted), reasoningCharacters, ...reasoningTimes(meter, leftAt) }
}

/** Finishes an abandoned response without an end: `closing` are the decoder's closing events. */
export function meterUnfinished(meter: Meter, closing: readonly InferenceEvent[]): void {
  const last = closing.at(-1)
  if (last?.type === 'finished') meter.usageSoFar = last.usage
}

export function meteredAnswer(meter: Meter): MeteredAnswer {
  const { characters, reasoningCharacters, hasNative, hasReasoning, firstContentAt, finished, left } = meter
  return {
    characters,
    reasoningCharacters,
    ...(hasNative && { hasNative }),
    ...(hasReasoning && { hasReasoning }),
    ...(firstContentAt !== undefined && { firstContentAt }),
    ...(finished && { outcome: finished.outcome }),
    ...(finished?.usage ? { usage: finished.usage } : countedSoFar(meter)),
    ...left,
  }
}

/** Counts used in place of the provider's usage. */
function countedSoFar(meter: Meter): Partial<MeteredAnswer> {
  const { startUsage, usageSoFar, hostedCalls } = meter
  const stated = { ...(startUsage && { startUsage }), ...(usageSoFar && { usageSoFar }) }
  const isCut = meter.finished?.outcome.status === 'incomplete' && meter.firstTextAt !== undefined
  const cut = isCut && meter.left === undefined ? cutTimes(meter) : undefined
  return { tokens: likelyTokens(meter.counted), ...stated, ...(hostedCalls && { hostedCalls }), ...cut }
}

function cutTimes(meter: Meter): ReasoningTimes & { readonly cutAt: number } {
  const cutAt = meter.clock.monotonic()
  return { cutAt, ...reasoningTimes(meter, cutAt) }
}
