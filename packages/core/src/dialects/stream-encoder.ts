import type { EventEncoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Frame } from '../protocol/wire.ts'

export type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { readonly type: Type }>

/** The state common to all stream encoders. */
export interface EncoderState {
  frames: Frame[]
  phase: 'new' | 'started' | 'ended'
}

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
      state.frames = []
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

export const isFailure = (event: InferenceEvent): boolean => event.type === 'finished' && event.outcome.status === 'failed'
