import type { InferenceEvent, Item, ReasoningItem } from '@signalbox/dialects/protocol'
import { innerDialect, originalOf, remember } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { isPromise } from '@signalbox/storage/awaitable'
import type { ItemOwner } from '../../access/caller.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { Logger } from '../../runtime/ports.ts'
import type { KeyRing } from '../../runtime/seal.ts'
import type { EventBatch } from '../../upstream/event-batches.ts'
import { makerOf, type ReasoningState, sealState } from './envelope.ts'

// Seals reasoning state in responses, so that clients never receive the state in the provider's format.

export interface SealingContext {
  readonly ring: KeyRing
  readonly logger: Logger
  /** The caller that receives the response. */
  readonly owner: ItemOwner
}

/** Returns a function that seals the items of one response. Items other than reasoning are returned unchanged. */
export function itemSealer(candidate: Candidate, { ring, logger, owner }: SealingContext): (item: Item) => Awaitable<Item> {
  const seal = async (item: ReasoningItem, made: Made): Promise<Item> => {
    const maker = makerOf(candidate)
    try {
      return remember({ ...item, encrypted_content: await sealState(ring, owner, { maker, ...made }) }, originalOf(item))
    } catch (error) {
      logger.error({ provider: maker.provider, error: String(error) }, 'Reasoning state could not be sealed, and was left out.')
      return item
    }
  }
  return item => {
    if (item.type !== 'reasoning') return item
    const made = stateOf(item, candidate.dialect?.returnsReasoningText === true)
    const bare = withoutState(item)
    return made === undefined ? bare : seal(bare, made)
  }
}

/** Seals the items in a batch. A batch without reasoning items is returned unchanged, without an allocation. */
export function sealBatch(seal: (item: Item) => Awaitable<Item>, batch: EventBatch): Awaitable<EventBatch> {
  if (!batch.some(isReasoning)) return batch
  const sealed = batch.map((event): Awaitable<InferenceEvent> => {
    if (!isReasoning(event)) return event
    if (event.type === 'item_started') return { ...event, item: withoutState(event.item) }
    const item = seal(event.item)
    return isPromise(item) ? item.then(each => ({ ...event, item: each })) : { ...event, item }
  })
  return sealed.some(isPromise) ? Promise.all(sealed) : (sealed as readonly InferenceEvent[])
}

type ReasoningEvent = Extract<InferenceEvent, { type: 'item_started' | 'item_finished' }> & { readonly item: ReasoningItem }

const isReasoning = (event: InferenceEvent): event is ReasoningEvent =>
  (event.type === 'item_finished' || event.type === 'item_started') && event.item.type === 'reasoning'

type Made = Omit<ReasoningState, 'maker'>

/** The state of an item. Plain reasoning that the provider expects back counts too, since many clients keep only the encrypted field. */
function stateOf({ encrypted_content: text, content, summary }: ReasoningItem, takesWords: boolean): Made | undefined {
  const words = takesWords ? (content ?? summary).filter(text => text !== '') : []
  if (text === undefined && words.length === 0) return undefined
  return { text, words: words.length > 0 ? words : undefined }
}

/**
 * The item and its original without state that only the provider may read. The original is kept if the wire field of the state is known;
 * otherwise it is dropped, with all fields that the gateway does not know.
 */
function withoutState(item: ReasoningItem): ReasoningItem {
  const { encrypted_content, ...rest } = item
  const original = originalOf(item)
  if (original?.dialect !== innerDialect) return rest
  const { encrypted_content: raw, ...body } = original.body
  return remember(rest, { ...original, body })
}
