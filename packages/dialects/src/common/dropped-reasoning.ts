import type { ReasoningItem } from '../protocol/item.ts'
import type { Warning } from '../protocol/response.ts'

// Reasoning of an earlier turn that a provider does not accept: text only, written by another model, or without its state. A single warning
// covers any number of items.

/** Whether the item has text. */
export const hasWords = ({ summary, content = [] }: ReasoningItem): boolean => [...summary, ...content].some(text => text !== '')

/** Warns about dropped reasoning. `params`: the paths of the items. */
export function droppedReasoning(params: readonly string[]): readonly Warning[] {
  const [param] = params
  if (param === undefined) return []
  const count = params.length === 1 ? 'one item' : `${params.length} items`
  return [
    {
      code: 'reasoning_state_dropped',
      message: `The reasoning of ${count} was left out: it has no state that this provider accepts.`,
      param,
    },
  ]
}
