import type { Stage } from '../metering/meter.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Item, ReasoningItem } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import { quirksFor } from '../protocol/provider.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Logger } from '../runtime/ports.ts'
import type { KeyRing } from '../runtime/seal.ts'
import { makerOf, type State, sealState } from './envelope.ts'

// Reasoning state on its way out: no caller ever sees a provider's own text.

export interface Sealing {
  readonly ring: KeyRing
  readonly logger: Logger
  readonly workspaceId: string
}

type ItemEvent = Extract<InferenceEvent, { type: 'item_started' | 'item_finished' }>
type ReasoningEvent = ItemEvent & { readonly item: ReasoningItem }

/** A batch without reasoning items is handed on as it is: nothing is made for it, and nobody waits. */
export function sealing(candidate: Candidate, { ring, logger, workspaceId }: Sealing): Stage {
  const seal = async (event: ReasoningEvent, made: Made): Promise<InferenceEvent> => {
    const maker = makerOf(candidate)
    const item = withoutState(event.item)
    try {
      return { ...event, item: withState(item, await sealState(ring, workspaceId, { maker, ...made })) }
    } catch (error) {
      logger.error({ provider: maker.provider, error: String(error) }, 'Reasoning state could not be sealed, and was left out.')
      return { ...event, item }
    }
  }
  return batch => {
    if (!batch.some(isReasoning)) return batch
    const takesWords = quirksFor(candidate.provider, candidate.offer).reasoning_field !== undefined
    const sealed = batch.map((event): InferenceEvent | Promise<InferenceEvent> => {
      if (!isReasoning(event)) return event
      const made = event.type === 'item_finished' ? stateOf(event.item, takesWords) : undefined
      return made === undefined ? { ...event, item: withoutState(event.item) } : seal(event, made)
    })
    return sealed.every(isHere) ? sealed : Promise.all(sealed)
  }
}

const isHere = (event: InferenceEvent | Promise<InferenceEvent>): event is InferenceEvent => !(event instanceof Promise)

const isReasoning = (event: InferenceEvent): event is ReasoningEvent =>
  (event.type === 'item_finished' || event.type === 'item_started') && event.item.type === 'reasoning'

type Made = Omit<State, 'maker'>

/** Thoughts that the provider wants back in words are state too: many clients keep nothing else of an item. */
function stateOf({ encrypted_content: text, content, summary }: ReasoningItem, takesWords: boolean): Made | undefined {
  const words = takesWords ? (content ?? summary).filter(thought => thought !== '') : []
  if (text === undefined && words.length === 0) return undefined
  return { ...(text !== undefined && { text }), ...(words.length > 0 && { words }) }
}

/**
 * The item, and what it came from, with nothing in them that only the provider may read. An original is kept where the
 * wire field of the state is known; elsewhere the item goes on without what we could not read in it.
 */
function withoutState(item: ReasoningItem): ReasoningItem {
  const { encrypted_content, ...rest } = item
  const original = originalOf(item)
  if (original?.dialect !== 'responses') return rest
  const { encrypted_content: raw, ...body } = original.body
  return remember(rest, { ...original, body })
}

const withState = (item: ReasoningItem, encrypted_content: string): Item => remember({ ...item, encrypted_content }, originalOf(item))
