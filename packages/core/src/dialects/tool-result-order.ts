import type { Item } from '../protocol/item.ts'

// Most languages want the result of a tool directly after the turn that called it. Callers put other items between: a user may
// write while an agent runs its tools.

export interface PlacedItem {
  readonly item: Item
  /** Its index in the caller's order. */
  readonly at: number
}

/** A conversation with each result after the turn of its call; all other items keep their order. `stays`: results that are not moved. */
export function orderToolResults(input: readonly Item[], stays: (item: Item) => boolean = () => false): readonly PlacedItem[] {
  const ends = turnEnds(input)
  const calls = new Map<string, number>()
  /** Results by the index of the item that they follow. */
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
  const ends: number[] = input.map((_, at) => at)
  for (let at = input.length - 2; at >= 0; at -= 1) {
    const [item, next] = [input[at], input[at + 1]]
    if (item && next && isAssistantItem(item) && isAssistantItem(next)) ends[at] = ends[at + 1] ?? at
  }
  return ends
}

/** Whether the item is a part of the assistant's turn. */
export const isAssistantItem = (item: Item): boolean =>
  item.type === 'reasoning' ||
  item.type === 'function_call' ||
  (item.type === 'native' && item.body.role === undefined) ||
  (item.type === 'message' && item.role === 'assistant')
