import type { Item, MessageItem, ReasoningItem } from '../../protocol/item.ts'
import { originalOf, remember } from '../../protocol/original.ts'
import { argumentsOf, assembledItem, contentOf, type PartialItem, thoughtsOf } from '../item-assembler.ts'

/**
 * The item as the provider finished it, completed by what was streamed before: some leave out of a finished item what they
 * have streamed. The id stays the announced one, since some change it with every event.
 */
export function mergedItem(partial: PartialItem, last: Item): Item {
  const { item } = partial
  const merged = last.type === item.type ? remember(merge(partial, last), originalOf(last)) : assembledItem(partial, 'completed')
  return withIdOf(item, merged)
}

function merge(partial: PartialItem, last: Item): Item {
  if (last.type === 'message') return mergeMessage(partial, last)
  return last.type === 'reasoning' ? mergeThought(partial, last) : mergeCall(partial, last)
}

const mergeMessage = (partial: PartialItem, last: MessageItem): Item => ({
  ...last,
  ...(last.content.length === 0 && { content: contentOf(partial) }),
})

function mergeThought(partial: PartialItem, last: ReasoningItem): Item {
  const { summary, content } = thoughtsOf(partial)
  return { ...last, ...(last.summary.length === 0 && { summary }), ...(!last.content && content && { content }) }
}

function mergeCall(partial: PartialItem, last: Item): Item {
  const { item } = partial
  if (last.type !== 'function_call' || item.type !== 'function_call') return last
  const written = last.arguments === '' ? argumentsOf(partial) : last.arguments
  return {
    ...last,
    call_id: item.call_id === '' ? last.call_id : item.call_id,
    name: item.name === '' ? last.name : item.name,
    arguments: written === '' && last.status !== 'incomplete' ? '{}' : written,
  }
}

function withIdOf(announced: Item, item: Item): Item {
  if (item.type === 'native' || item.type === 'function_call_output') return item
  const id = 'id' in announced && announced.id !== undefined ? { id: announced.id } : {}
  return remember({ ...item, ...id } as Item, originalOf(item))
}
