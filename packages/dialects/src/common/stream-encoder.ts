import type { EventEncoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { extendedText, TextBuffer } from '../protocol/text-delta.ts'
import { append, type Frame } from '../protocol/wire.ts'

export type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { readonly type: Type }>

/** The state common to all stream encoders. */
export interface EncoderState {
  frames: readonly Frame[]
  phase: 'new' | 'started' | 'ended'
}

/** The list without frames of all encoders. */
export const noFrames: readonly Frame[] = []

/** Adds a frame. A first frame gets a list of its own size. */
export function emitFrame(state: Pick<EncoderState, 'frames'>, frame: Frame): void {
  state.frames = append(state.frames, frame)
}

const needsEscapes = /["\\\p{Cc}\p{Cs}]/u

/** A text as JSON without its quotes. Most deltas need no escape, and finding that takes a quarter of the time of `JSON.stringify`. */
export const jsonText = (text: string): string => (needsEscapes.test(text) ? JSON.stringify(text).slice(1, -1) : text)

/** The handler of an encoder for each type of event. */
export type EventHandlers<State extends EncoderState> = {
  readonly [Type in Exclude<InferenceEvent['type'], 'started'>]: (state: State, event: EventOf<Type>) => void
} & {
  /** Called with the first event, of any type, before its own handler. Sets the phase, unless there is nothing to announce. */
  readonly begin: (state: State, first: InferenceEvent) => void
}

/** Creates an encoder from its state and a table of handlers. Nothing is written after `finished`. */
export function streamEncoder<State extends EncoderState>(state: State, handlers: EventHandlers<State>): EventEncoder {
  return {
    write(events) {
      for (let at = 0; at < events.length; at += 1) encodeEvent(state, events[at] as InferenceEvent, handlers)
      const { frames } = state
      state.frames = noFrames
      return frames
    },
  }
}

function encodeEvent<State extends EncoderState>(state: State, event: InferenceEvent, handlers: EventHandlers<State>): void {
  if (state.phase === 'ended') return
  if (state.phase === 'new') handlers.begin(state, event)
  if (event.type === 'delta') handlers.delta(state, event)
  else if (event.type === 'item_started') handlers.item_started(state, event)
  else if (event.type === 'item_finished') handlers.item_finished(state, event)
  else if (event.type === 'native') handlers.native(state, event)
  else if (event.type === 'finished') {
    handlers.finished(state, event)
    state.phase = 'ended'
  }
}

/** The text that was sent of a part or a call. */
export interface SentText {
  /** Number of characters. */
  sent: number
  /** Begins with what was sent. This is the decoder's text while every delta comes from it, so that an open stream keeps its text once. */
  buffer: TextBuffer | undefined
  isShared: boolean
}

export const nothingSent = (): SentText => ({ sent: 0, buffer: undefined, isShared: false })

/** Adds text to what was sent. `event`: the delta event with this text; undefined if no event had it. */
export function addSent(part: SentText, text: string, event?: EventOf<'delta'>): void {
  const before = part.sent
  part.sent += text.length
  const shared = event && extendedText(event, part.sent)
  if (shared !== undefined && (shared === part.buffer || before === 0)) {
    part.buffer = shared
    part.isShared = true
    return
  }
  if (part.isShared || part.buffer === undefined) {
    part.buffer = new TextBuffer(part.buffer?.toString().slice(0, before))
    part.isShared = false
  }
  part.buffer.append(text)
}

export const sentText = ({ buffer, sent }: SentText): string => (buffer ? buffer.toString().slice(0, sent) : '')

export const isFailure = (event: InferenceEvent): boolean => event.type === 'finished' && event.outcome.status === 'failed'
