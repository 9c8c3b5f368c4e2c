import type { Item, Part } from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { unsupported } from './apply-quirks.ts'

// Marks that callers set on pieces of a conversation. A language that has no such mark says so once, not once a piece.

/** The parts of an item, wherever it keeps them. */
export function partsOf(item: Item): readonly Part[] {
  if (item.type === 'message') return item.content
  return item.type === 'function_call_output' && typeof item.output !== 'string' ? item.output : []
}

/** One warning however many there are: a client that marks one place marks many. */
export function oneWarning(params: readonly string[], why: string): readonly Warning[] {
  const [first, ...others] = params
  if (first === undefined) return []
  return [unsupported(first, `\`${first}\`${others.length > 0 ? ` (and ${others.length} more like it)` : ''} ${why}`)]
}

/** Tool results that say that the tool failed. */
export const failedTools = (input: readonly Item[]): readonly string[] =>
  input.flatMap((item, at) => (item.type === 'function_call_output' && item.is_error ? [`${pathOf(item, `input[${at}]`)}.is_error`] : []))

/** Where callers marked what may be cached. `goesAlong`: marks that are sent, and need no warning. */
export function cachePoints({ input, tools = [] }: Prompt, goesAlong: (reading: object) => boolean): readonly string[] {
  const isLost = (reading: object): boolean => 'cache' in reading && reading.cache !== undefined && !goesAlong(reading)
  return [
    ...tools.flatMap((tool, at) => (isLost(tool) ? [pathOf(tool, `tools[${at}]`)] : [])),
    ...input.flatMap((item, at): readonly string[] => {
      const param = pathOf(item, `input[${at}]`)
      const where = item.type === 'message' ? 'content' : 'output'
      return [
        ...partsOf(item).flatMap((part, index) => (isLost(part) ? [pathOf(part, `${param}.${where}[${index}]`)] : [])),
        ...(isLost(item) ? [param] : []),
      ]
    }),
  ]
}
