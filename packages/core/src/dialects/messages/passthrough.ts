import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { objects } from '../json.ts'
import { withoutInventedCitations } from './decode-parts.ts'
import { safeId } from './tool-names.ts'

/** The client's body as a provider of this dialect accepts it: without gateway fields, and with cleaned messages. */
export const passThroughBody = ({ gateway, extensions, messages, ...body }: JsonObject): JsonObject => ({
  ...body,
  ...(messages !== undefined && { messages: Array.isArray(messages) ? (messages as readonly Json[]).flatMap(cleanMessage) : messages }),
})

/** Removes remnants of other providers' responses: citations without proof, unsigned thinking, invalid call ids. */
function cleanMessage(message: Json): readonly Json[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message]
  const blocks = objects(message.content)
  const genuine = message.role === 'assistant' ? blocks.filter(isSigned).map(withoutInventedCitations) : blocks
  const clean = genuine.map(withSafeId)
  if (clean.length === blocks.length && clean.every((block, at) => block === blocks[at])) return [message]
  return clean.length === 0 ? [] : [{ ...message, content: clean }]
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
