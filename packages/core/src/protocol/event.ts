import type { Item } from './item.ts'
import type { Outcome, Usage } from './response.ts'
import type { DialectName, JsonObject } from './wire.ts'

/**
 * Six facts. A stream is `started`, then for each item `item_started`, `delta`…, `item_finished`,
 * with `native` anywhere between, then exactly one `finished`. Indexes are dense: 0, 1, 2…, in the order of starting.
 */
export type InferenceEvent =
  | { readonly type: 'started'; readonly id: string; readonly model: string; readonly created_at: number }
  | { readonly type: 'item_started'; readonly index: number; readonly item: Item }
  | { readonly type: 'delta'; readonly index: number; readonly delta: Delta }
  /** The item whole, everything its deltas told included. */
  | { readonly type: 'item_finished'; readonly index: number; readonly item: Item }
  | NativeEvent
  | { readonly type: 'finished'; readonly outcome: Outcome; readonly usage?: Usage }

/** An event that we do not model, about item `index` where it names one. */
export interface NativeEvent {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly name: string
  readonly index?: number
  readonly body: JsonObject
  readonly preamble: boolean
}

/** Growth of one open item. `part` says which of its pieces grows; a part that is not there yet is opened by it. */
export type Delta =
  | {
      readonly kind: 'text' | 'refusal' | 'reasoning' | 'summary' | 'arguments'
      readonly part: number
      readonly text: string
      readonly logprobs?: readonly JsonObject[]
    }
  | { readonly kind: 'annotation'; readonly part: number; readonly annotation: JsonObject }

/** True while a stream has only announced itself and produced nothing yet. */
export const isPreamble = (event: InferenceEvent): boolean =>
  event.type === 'started' ||
  event.type === 'item_started' ||
  (event.type === 'native' && event.preamble) ||
  (event.type === 'delta' && event.delta.kind !== 'annotation' && event.delta.text === '')

/** True of an event that a client may see: from the first one on no other provider can step in. */
export const isContent = (event: InferenceEvent): boolean => event.type !== 'finished' && !isPreamble(event)

/** True of a batch that ends its answer. */
export const hasEnd = (batch: readonly InferenceEvent[]): boolean => batch.at(-1)?.type === 'finished'
