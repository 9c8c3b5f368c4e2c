import type { Item } from '../protocol/item.ts'

// Most languages want what a tool returned directly behind the turn that called it. Callers put other things between: an
// agent runs its tools and meanwhile its user speaks.

export interface PlacedItem {
  readonly item: Item
  /** Its place in the caller's own order. */
  readonly at: number
}

/** A conversation with each result behind the turn of its call; all else keeps its order. `stays`: results that are left where they are. */
export function orderToolResults(input: readonly Item[], stays: (item: Item) => boolean = () => false): readonly PlacedItem[] {
  const ends = turnEnds(input)
  const calls = new Map<string, number>()
  /** Results, by the place behind which they belong. */
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

/** For each item, where the assistant stops that speaks there. */
function turnEnds(input: readonly Item[]): readonly number[] {
  const ends: number[] = input.map((_, at) => at)
  for (let at = input.length - 2; at >= 0; at -= 1) {
    const [item, next] = [input[at], input[at + 1]]
    if (item && next && isAssistantItem(item) && isAssistantItem(next)) ends[at] = ends[at + 1] ?? at
  }
  return ends
}

/** Whether the assistant does this. */
export const isAssistantItem = (item: Item): boolean =>
  item.type === 'reasoning' ||
  item.type === 'function_call' ||
  (item.type === 'native' && item.body.role === undefined) ||
  (item.type === 'message' && item.role === 'assistant')
