import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { objects } from '../common/json.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { withoutInventedCitations } from './decode-parts.ts'
import { isSafeId, safeId } from './tool-names.ts'

/** The client's body as a provider of this dialect accepts it: without gateway fields, and with cleaned messages. */
export const passThroughBody = ({ gateway, extensions, messages, ...body }: JsonObject): JsonObject => ({
  ...body,
  ...(messages !== undefined && { messages: Array.isArray(messages) ? cleanMessages(messages as readonly Json[]) : messages }),
})

function cleanMessages(messages: readonly Json[]): readonly Json[] {
  const ids = messages.flatMap(message => (isObject(message) ? objects(message.content).flatMap(callIdIn) : []))
  const callIds = fittedNames(ids, safeId)
  return messages.flatMap(message => cleanMessage(message, callIds))
}

/** Removes remnants of other providers' responses: citations without proof, unsigned thinking, invalid call ids. */
function cleanMessage(message: Json, callIds: FittedNames): readonly Json[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message]
  const blocks = objects(message.content)
  const genuine = message.role === 'assistant' ? blocks.filter(isSigned).map(withoutInventedCitations) : blocks
  const clean = genuine.map(block => withSafeId(block, callIds))
  if (clean.length === blocks.length && clean.every((block, at) => block === blocks[at])) return [message]
  return clean.length === 0 ? [] : [{ ...message, content: clean }]
}

const isSigned = ({ type, signature }: JsonObject): boolean => type !== 'thinking' || Boolean(signature)

const idFields: ReadonlyMap<Json | undefined, string> = new Map([
  ['tool_use', 'id'],
  ['tool_result', 'tool_use_id'],
])

const callIdIn = (block: JsonObject): readonly string[] => {
  const field = idFields.get(block.type)
  const id = field === undefined ? undefined : block[field]
  return typeof id === 'string' ? [id] : []
}

function withSafeId(block: JsonObject, callIds: FittedNames): JsonObject {
  const [id] = callIdIn(block)
  return id === undefined || isSafeId(id) ? block : { ...block, [idFields.get(block.type) ?? '']: callIds.sent(id) }
}
