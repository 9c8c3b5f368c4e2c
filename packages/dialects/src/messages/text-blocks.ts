import { stringOf } from '../common/json.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Blocks of this dialect that hold nothing but text. Other dialects get the text in their place; their citations are lost.

type TextOfBlock = (block: JsonObject) => string | undefined

const blocks: ReadonlyMap<string, TextOfBlock> = new Map<string, TextOfBlock>([
  // The definition of the tool is in `tools`. Claude Code sends it in results of its ToolSearch (pleaseai/shunt#43).
  ['tool_reference', ({ tool_name }) => `Found the tool ${stringOf(tool_name)}, which can be called now.`],
  ['search_result', ({ title, source, content }) => joined([stringOf(title), `Source: ${stringOf(source)}`, contentText(content)])],
  [
    'document',
    ({ title, context, source }) =>
      isObject(source) && source.type === 'content' ? joined([stringOf(title), stringOf(context), contentText(source.content)]) : undefined,
  ],
])

/** The text of such a block; undefined if it holds something else, such as an image. */
export const textOfBlock = (block: JsonObject): string | undefined => blocks.get(stringOf(block.type))?.(block)

/** Undefined if one of the texts is. */
const joined = (texts: readonly (string | undefined)[]): string | undefined =>
  texts.includes(undefined) ? undefined : texts.filter(text => text !== '').join('\n\n')

function contentText(content: Json | undefined): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const entries: readonly Json[] = content
  return joined(entries.map(entry => (isObject(entry) && entry.type === 'text' ? stringOf(entry.text) : undefined)))
}
