import { itemParts } from '../dialects/part-warnings.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { Item, Part } from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'

/** Refuses a conversation without content, for which the provider would receive no messages or blank ones. */
export function checkContent({ input, instructions }: Prompt): void {
  if (input.some(holdsContent) || !hasNoText(instructions)) return
  const last = input.at(-1)
  const [param = ''] = (last ? pathOf(last, 'input') : 'input').split(/[.[]/)
  throw new GatewayError('invalid_parameter_value', {
    message: `\`${param}\` has no content: no text, image, file, audio or tool result.`,
    param,
    suggestion: 'Send a user message with text.',
  })
}

const hasNoText = (text: string | undefined): boolean => text === undefined || text.trim() === ''

/** Whether an item has content. Reasoning alone does not count. */
function holdsContent(item: Item): boolean {
  if (item.type === 'message') return itemParts(item).some(isSaid)
  return item.type !== 'reasoning'
}

const isSaid = (part: Part): boolean => {
  if (part.type === 'text') return !hasNoText(part.text)
  return part.type === 'refusal' ? !hasNoText(part.refusal) : true
}
