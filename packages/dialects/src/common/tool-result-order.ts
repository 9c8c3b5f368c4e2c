import type { Item } from '../protocol/item.ts'

// Most dialects require a tool result directly after the turn that called the tool. Clients put other items in between: a user may write
// while an agent runs its tools.

export interface PlacedItem {
  readonly item: Item
  /** Its index in the client's order. */
  readonly at: number
}

/** Moves each result after the turn of its call; all other items keep their order. `stays`: results that are not moved. */
export function orderToolResults(input: readonly Item[], stays: (item: Item) => boolean = () => false): readonly PlacedItem[] {
  const ends = turnEnds(input)
  const calls = new Map<string, number>()
  /** Results by the index of the item they follow. */
  const answers = new Map<number, PlacedItem[]>()
  const others: PlacedItem[] = []
  for (const [at, item] of input.entries()) {
    if (item.type === 'function_call') calls.set(item.call_id, at)
    const call = item.type === 'function_call_output' && !stays(item) ? calls.get(item.call_id) : undefined
    const end = call === undefined ? undefined : ends[call]
    const behind = end === undefined ? undefined : answers.get(end)
    if (behind) behind.push({ item, at })
    else if (end !== undefined) answers.set(end, [{ item, at }])
    else others.push({ item, at })
  }
  return answers.size === 0 ? others : others.flatMap(each => [each, ...(answers.get(each.at) ?? [])])
}

/** For each item, the index of the last item of its turn. */
function turnEnds(input: readonly Item[]): readonly number[] {
  const ends: number[] = input.map((_, index) => index)
  for (let at = input.length - 2; at >= 0; at -= 1) {
    const [item, next] = [input[at], input[at + 1]]
    if (item && next && isAssistantItem(item) && isAssistantItem(next)) ends[at] = ends[at + 1] ?? at
  }
  return ends
}

/** Whether the item is part of the assistant's turn. */
export const isAssistantItem = (item: Item): boolean =>
  item.type === 'reasoning' ||
  item.type === 'function_call' ||
  (item.type === 'native' && item.body.role === undefined) ||
  (item.type === 'message' && item.role === 'assistant')
