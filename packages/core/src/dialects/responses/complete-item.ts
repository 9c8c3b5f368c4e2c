import type { Item, Part } from '../../protocol/item.ts'
import { appendAnnotation, appendDelta, type ItemAssembler, type PartialItem, partOf, type TextDelta } from '../item-assembler.ts'
import { replaceText, textOf } from '../text-buffer.ts'

/** Takes a text that is now known whole: emits what its deltas left out. */
export function completeText(assembler: ItemAssembler, partial: PartialItem, { kind, part: number, text }: TextDelta): void {
  const part = partOf(partial, kind, number)
  const { length } = part.text
  if (text.length > length && text.startsWith(textOf(part.text)))
    appendDelta(assembler, partial, { kind, part: number, text: text.slice(length) })
  else if (text !== '') replaceText(part.text, text)
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
