import type { Item, Part } from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'

export const unsupported = (param: string, message: string): Warning => ({ code: 'unsupported_parameter', message, param })

const contentLostCode = 'content_lost'

/** A part of the conversation that a dialect cannot represent. A request that would lose one is not sent. */
export const contentLost = (param: string, message: string): Warning => ({ code: contentLostCode, message, param })

/** Whether a warning says that a part of the conversation would be lost. */
export const isContentLost = ({ code }: Warning): boolean => code === contentLostCode

// Marks that clients set on parts of a conversation. If a dialect lacks such a mark, a single warning covers all of them.

/** The parts of an item. */
export function itemParts(item: Item): readonly Part[] {
  if (item.type === 'message') return item.content
  return item.type === 'function_call_output' && typeof item.output !== 'string' ? item.output : []
}

/** One warning for any number of paths, because a client that marks one part marks many. */
export function combinedWarning(params: readonly string[], why: string): readonly Warning[] {
  const [first, ...others] = params
  if (first === undefined) return []
  return [unsupported(first, `\`${first}\`${others.length > 0 ? ` (and ${others.length} more like it)` : ''} ${why}`)]
}

/** Paths of tool results that are errors. */
export const failedToolPaths = (input: readonly Item[]): readonly string[] =>
  input.flatMap((item, index) =>
    item.type === 'function_call_output' && item.is_error ? [`${pathOf(item, `input[${index}]`)}.is_error`] : [],
  )

/** Whether a part has fields that only Claude's models know: citations or context of a document. */
export const isCitable = (part: Part): boolean => part.type === 'file' && (part.citable === true || part.context !== undefined)

/** One warning for the documents whose citations or context are lost. */
export const lostCitations = (input: readonly Item[]): readonly Warning[] =>
  combinedWarning(
    input.flatMap((item, at) => {
      const place = `${pathOf(item, `input[${at}]`)}.${item.type === 'message' ? 'content' : 'output'}`
      return itemParts(item).flatMap((part, index) => (isCitable(part) ? [`${pathOf(part, `${place}[${index}]`)}.citations`] : []))
    }),
    'cannot be sent to this provider; the document was sent without citations and context.',
  )

/** Paths of cache points that are lost. `isSent`: whether the cache point of an item, part or tool is sent. */
export function lostCachePoints({ input, tools = [] }: Prompt, isSent: (decoded: object) => boolean): readonly string[] {
  const isLost = (decoded: object): boolean => 'cache' in decoded && decoded.cache !== undefined && !isSent(decoded)
  return [
    ...tools.flatMap((tool, index) => (isLost(tool) ? [pathOf(tool, `tools[${index}]`)] : [])),
    ...input.flatMap((item, at): readonly string[] => {
      const param = pathOf(item, `input[${at}]`)
      const where = item.type === 'message' ? 'content' : 'output'
      return [
        ...itemParts(item).flatMap((part, index) => (isLost(part) ? [pathOf(part, `${param}.${where}[${index}]`)] : [])),
        ...(isLost(item) ? [param] : []),
      ]
    }),
  ]
}
