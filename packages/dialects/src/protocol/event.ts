import type { Item } from './item.ts'
import type { Outcome, Unmodeled, Usage } from './response.ts'
import type { DialectName, JsonObject } from './wire.ts'

/**
 * An event of a streamed response. A stream is `started`, then for each item `item_started`, `delta`…, `item_finished`, with `native`
 * anywhere in between, then exactly one `finished`. Indexes are dense: 0, 1, 2…, in the order in which items start.
 *
 * Not the events of the Responses API, whose items are used as they are: one change takes up to three of its frames, and every producer
 * would have to keep indexes, ids and sequence numbers in step. Its encoder alone does.
 */
export type InferenceEvent =
  | StartedEvent
  | { readonly type: 'item_started'; readonly index: number; readonly item: Item }
  | { readonly type: 'delta'; readonly index: number; readonly delta: Delta }
  /** The complete item, including all deltas. */
  | { readonly type: 'item_finished'; readonly index: number; readonly item: Item }
  | NativeEvent
  | { readonly type: 'finished'; readonly outcome: Outcome; readonly usage?: Usage; readonly unmodeled?: Unmodeled }

/** The first event of a streamed response. */
interface StartedEvent {
  readonly type: 'started'
  readonly id: string
  readonly model: string
  readonly created_at: number
  /** Counts reported at the start, with the input tokens of the request. Undefined if the provider reports them only at the end. */
  readonly usage?: Usage
}

/** An event that is passed through without decoding. `index` is the item it refers to, if any. */
export interface NativeEvent {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly name: string
  readonly index?: number
  readonly body: JsonObject
  readonly preamble: boolean
}

/** Text or an annotation to append to an open item. `part` is the part number; a new number opens a part. */
export type Delta =
  | {
      readonly kind: 'text' | 'refusal' | 'reasoning' | 'summary' | 'arguments'
      readonly part: number
      readonly text: string
      readonly logprobs?: readonly JsonObject[]
    }
  | { readonly kind: 'annotation'; readonly part: number; readonly annotation: JsonObject }

/** Whether the event only announces the stream or an item and has no content. */
export const isPreamble = (event: InferenceEvent): boolean =>
  event.type === 'started' ||
  event.type === 'item_started' ||
  (event.type === 'native' && event.preamble) ||
  (event.type === 'delta' && event.delta.kind !== 'annotation' && event.delta.text === '')

/** Whether the event has content. After the first such event, no other provider can take over the request. */
export const isContent = (event: InferenceEvent): boolean => event.type !== 'finished' && !isPreamble(event)

/** Whether the batch ends the response. */
export const hasEnd = (batch: readonly InferenceEvent[]): boolean => batch.at(-1)?.type === 'finished'

/** The events that close a response. Always ends with `finished`, even if the decoder's `end` throws or omits it. */
export function closingEvents(end: () => readonly InferenceEvent[]): readonly InferenceEvent[] {
  try {
    const rest = end()
    return hasEnd(rest) ? rest : [...rest, unreadable]
  } catch {
    return [unreadable]
  }
}

const unreadable: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: { kind: 'unreadable', message: '' } } }
