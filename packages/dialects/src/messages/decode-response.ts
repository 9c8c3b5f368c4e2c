import { failed } from '../common/answer-failures.ts'
import { objects, stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import { fold } from '../protocol/fold.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { MessageDecoder } from './decode-stream.ts'
import { errorIn, nestedTooDeep, noContent } from './errors.ts'
import { decodeUsage, dialect, outcomeOf, readHead } from './wire.ts'

/** Decodes a message. Its blocks go through the same decoder as those of a stream. */
export function decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse {
  const decoder = new MessageDecoder(mapping)
  const { items } = decoder
  const error = errorIn(body)
  try {
    decoder.startMessage(body)
    const blocks = contentBlocks(body)
    for (const wire of blocks ?? []) decoder.addBlock(wire)
    const isAnswered = items.count > 0
    decoder.settle(error ? failed(error) : blocks ? outcomeOf(stringOf(body.stop_reason)) : noContent)
    items.end(decodeUsage(body.usage, isAnswered))
    return remember(fold(items.drain()), { dialect, body })
  } catch {
    // The input of a call cannot be serialized.
    return { ...readHead(body), output: [], outcome: nestedTooDeep }
  }
}

/** The content blocks; undefined if the body is not a message. Some servers send plain text, or null for no content. */
function contentBlocks({ content, stop_reason }: JsonObject): readonly JsonObject[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) || typeof stop_reason === 'string' ? objects(content) : undefined
}
