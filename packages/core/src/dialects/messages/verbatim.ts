import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { objects } from '../json.ts'
import { withoutMadeUp } from './request-parts.ts'

// A body in the caller's own words, as it goes on to a provider of the same language: all but what only we understand.

export const withoutOurs = ({ gateway, extensions, messages, ...body }: JsonObject): JsonObject => ({
  ...body,
  ...(messages !== undefined && { messages: Array.isArray(messages) ? (messages as readonly Json[]).flatMap(cleaned) : messages }),
})

/** Without what we made up for answers of other providers: citations that lack a proof, and thoughts that nobody signed. */
function cleaned(message: Json): readonly Json[] {
  if (!isObject(message) || message.role !== 'assistant' || !Array.isArray(message.content)) return [message]
  const blocks = objects(message.content)
  const kept = blocks.filter(block => block.type !== 'thinking' || Boolean(block.signature)).map(withoutMadeUp)
  if (kept.length === blocks.length && kept.every((block, at) => block === blocks[at])) return [message]
  return kept.length === 0 ? [] : [{ ...message, content: kept }]
}
