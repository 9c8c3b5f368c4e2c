import type { Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import { FreeNames } from './fitted-names.ts'
import { usableCallId } from './ids.ts'

// Some servers of Chat Completions give their calls the same ids in every turn (`call_0`). OpenAI accepts that; Anthropic: 400 "`tool_use`
// ids must be unique" (trycua/cua#524, BerriAI/litellm#23510), Bedrock likewise. Servers of the Responses API answer "Duplicate 'call_id'"
// (earendil-works/pi#9057), or take each result for one of the last call (openai/gpt-oss#308).

/** The items with call ids that occur once. A result belongs to the earliest call of its id that has none yet. */
export function withUniqueCallIds(input: readonly Item[]): readonly Item[] {
  const taken = new Set<string>()
  let isRepeated = false
  for (const item of input) {
    if (item.type !== 'function_call') continue
    isRepeated ||= taken.has(usableCallId(item.call_id))
    if (usableCallId(item.call_id) !== '') taken.add(item.call_id)
  }
  return isRepeated ? withoutRepeats(input, taken) : input
}

interface KnownId {
  /** Ids of calls without a result. */
  readonly open: string[]
  latest: string
}

function withoutRepeats(input: readonly Item[], taken: Set<string>): readonly Item[] {
  const known = new Map<string, KnownId>()
  const names = new FreeNames(taken)
  return input.map(item => {
    if (item.type !== 'function_call' && item.type !== 'function_call_output') return item
    const id = usableCallId(item.call_id)
    if (id === '') return item
    const entry = known.get(id)
    const unique = item.type === 'function_call' ? startCall(known, id, names) : (entry?.open.shift() ?? entry?.latest ?? id)
    return unique === id ? item : remember<Item>({ ...item, call_id: unique }, originalOf(item))
  })
}

/** The id of the next call with this one: the first keeps it. */
function startCall(known: Map<string, KnownId>, id: string, names: FreeNames): string {
  const entry = known.get(id)
  const unique = entry ? names.take(attempt => `${id}_${attempt + 2}`) : id
  known.set(id, { open: [...(entry?.open ?? []), unique], latest: unique })
  return unique
}
