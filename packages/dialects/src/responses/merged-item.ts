import type { OpenItem } from '../common/item-assembler.ts'
import type { Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'

/**
 * The item as the provider finished it, completed by what was streamed before, because some providers leave that out of a finished item.
 * Keeps the announced id, because some change it with every event.
 */
export function mergedItem(open: OpenItem, last: Item): Item {
  const { item } = open
  const merged = last.type === item.type ? remember(merge(open, last), originalOf(last)) : open.complete('completed')
  if (merged.type === 'native' || merged.type === 'function_call_output') return merged
  const id = 'id' in item && item.id !== undefined ? { id: item.id } : {}
  return remember({ ...merged, ...id } as Item, originalOf(merged))
}

function merge(open: OpenItem, last: Item): Item {
  const { item } = open
  if (last.type === 'message') return last.content.length === 0 ? { ...last, content: open.content() } : { ...last }
  if (last.type === 'reasoning') {
    const { summary, content } = open.reasoning()
    return { ...last, summary: last.summary.length === 0 ? summary : last.summary, content: last.content ?? content }
  }
  if (last.type !== 'function_call' || item.type !== 'function_call') return last
  const written = last.arguments === '' ? open.textOf('arguments') : last.arguments
  return {
    ...last,
    call_id: item.call_id === '' ? last.call_id : item.call_id,
    name: item.name === '' ? last.name : item.name,
    arguments: written === '' && last.status !== 'incomplete' && !last.custom ? '{}' : written,
  }
}
