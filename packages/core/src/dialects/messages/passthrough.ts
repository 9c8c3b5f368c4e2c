import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { objects } from '../json.ts'
import { safeId } from './tool-names.ts'
import { withoutMadeUp } from './request-parts.ts'

// A body in the caller's own words, as it goes on to a provider of the same language: all but what only we understand.

export const withoutOurs = ({ gateway, extensions, messages, ...body }: JsonObject): JsonObject => ({
  ...body,
  ...(messages !== undefined && { messages: Array.isArray(messages) ? (messages as readonly Json[]).flatMap(cleaned) : messages }),
})

/** Without what answers of other providers brought in: citations that lack a proof, thoughts that nobody signed, call ids of their shape. */
function cleaned(message: Json): readonly Json[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message]
  const blocks = objects(message.content)
  const ours = message.role === 'assistant' ? blocks.filter(isSigned).map(withoutMadeUp) : blocks
  const kept = ours.map(withSafeId)
  if (kept.length === blocks.length && kept.every((block, at) => block === blocks[at])) return [message]
  return kept.length === 0 ? [] : [{ ...message, content: kept }]
}

const isSigned = ({ type, signature }: JsonObject): boolean => type !== 'thinking' || Boolean(signature)

const idFields: ReadonlyMap<Json | undefined, string> = new Map([
  ['tool_use', 'id'],
  ['tool_result', 'tool_use_id'],
])

function withSafeId(block: JsonObject): JsonObject {
  const field = idFields.get(block.type) ?? ''
  const id = block[field]
  const safe = typeof id === 'string' ? safeId(id) : id
  return safe === id ? block : { ...block, [field]: safe }
}
