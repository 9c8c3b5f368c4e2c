import { itemParts } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Item, Part, Prompt } from '@signalbox/dialects/protocol'
import { pathOf } from '@signalbox/dialects/protocol'

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
