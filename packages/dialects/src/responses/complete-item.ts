import {
  appendAnnotation,
  appendDelta,
  argumentsOf,
  assembledItem,
  assembledReasoning,
  bufferedText,
  contentOf,
  type ItemAssembler,
  type PartialItem,
  partOf,
  type TextDelta,
  textBuffer,
} from '../common/item-assembler.ts'
import type { Item, MessageItem, Part, ReasoningItem } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'

// Combines the end of an item: its final state, as the provider sent it, and what was streamed before.

/** Completes a text whose final value is known: emits what its deltas left out. */
export function completeText(assembler: ItemAssembler, partial: PartialItem, { kind, part: number, text }: TextDelta): void {
  const part = partOf(partial, kind, number)
  const { length } = part.text
  if (text.length > length && text.startsWith(bufferedText(part.text)))
    appendDelta(assembler, partial, { kind, part: number, text: text.slice(length) })
  else if (text !== '') part.text = textBuffer(text)
}

function completePart(assembler: ItemAssembler, partial: PartialItem, [number, part]: readonly [number, Part]): void {
  if (part.type === 'refusal') completeText(assembler, partial, { kind: 'refusal', part: number, text: part.refusal })
  if (part.type !== 'text') return
  completeText(assembler, partial, { kind: 'text', part: number, text: part.text })
  const emitted = partOf(partial, 'text', number).annotations.length
  for (const annotation of part.annotations?.slice(emitted) ?? [])
    appendAnnotation(assembler, partial, { kind: 'annotation', part: number, annotation })
}

/** Emits what the deltas of an item left out of its final text. */
export function completeItem(assembler: ItemAssembler, partial: PartialItem, item: Item): void {
  if (item.type === 'message') for (const entry of item.content.entries()) completePart(assembler, partial, entry)
  if (item.type === 'function_call') completeText(assembler, partial, { kind: 'arguments', part: 0, text: item.arguments })
  if (item.type !== 'reasoning') return
  for (const [part, text] of item.summary.entries()) completeText(assembler, partial, { kind: 'summary', part, text })
  for (const [part, text] of (item.content ?? []).entries()) completeText(assembler, partial, { kind: 'reasoning', part, text })
}

/**
 * The item as the provider finished it, completed by what was streamed before, because some providers leave that out of a finished item.
 * Keeps the announced id, because some change it with every event.
 */
export function mergedItem(partial: PartialItem, last: Item): Item {
  const { item } = partial
  const merged = last.type === item.type ? remember(merge(partial, last), originalOf(last)) : assembledItem(partial, 'completed')
  return withIdOf(item, merged)
}

function merge(partial: PartialItem, last: Item): Item {
  if (last.type === 'message') return mergeMessage(partial, last)
  return last.type === 'reasoning' ? mergeReasoning(partial, last) : mergeCall(partial, last)
}

const mergeMessage = (partial: PartialItem, last: MessageItem): Item => ({
  ...last,
  ...(last.content.length === 0 && { content: contentOf(partial) }),
})

function mergeReasoning(partial: PartialItem, last: ReasoningItem): Item {
  const { summary, content } = assembledReasoning(partial)
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
    arguments: written === '' && last.status !== 'incomplete' && !last.custom ? '{}' : written,
  }
}

function withIdOf(announced: Item, item: Item): Item {
  if (item.type === 'native' || item.type === 'function_call_output') return item
  const id = 'id' in announced && announced.id !== undefined ? { id: announced.id } : {}
  return remember({ ...item, ...id } as Item, originalOf(item))
}
