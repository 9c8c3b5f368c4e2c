import type { Item, MessageItem } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import { dialect } from './wire.ts'

// OpenAI asks clients to send the `phase` of assistant messages back, and its models may stop early in long chains of tools without it. Other
// dialects have no such field, but a conversation shows it: text before a call of the same turn is commentary, and the last text before the
// user speaks again is the final answer.

type Phase = NonNullable<MessageItem['phase']>

/** The items with a phase on each assistant message that came in another dialect without one, as far as the conversation shows it. */
export function withDerivedPhases(input: readonly Item[]): readonly Item[] {
  const items = [...input]
  /** The phase of an assistant message at this place. Undefined if what follows does not show it, as at the end of the conversation. */
  let phase: Phase | undefined
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at] as Item
    if (item.type === 'function_call' || item.type === 'function_call_output') phase = 'commentary'
    else if (item.type === 'message' && item.role === 'user') phase = 'final_answer'
    else if (item.type === 'message' && item.role === 'assistant') {
      if (phase && !item.phase && originalOf(item)?.dialect !== dialect)
        items[at] = remember<MessageItem>({ ...item, phase }, originalOf(item))
      // Of several messages in a row, only the last one is known to be the answer.
      if (phase === 'final_answer') phase = undefined
    }
  }
  return items
}
