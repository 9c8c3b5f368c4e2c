import { failed } from '../common/answer-failures.ts'
import { objects, stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import { fold } from '../protocol/fold.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { ConverseDecoder } from './decode-stream.ts'
import { errorIn } from './errors.ts'
import { dialect, outcomeOf } from './wire.ts'

/** Decodes a response. Its blocks go through the same decoder as those of a stream. */
export function decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse {
  const decoder = new ConverseDecoder(mapping)
  const message = isObject(body.output) && isObject(body.output.message) ? body.output.message : undefined
  if (message) for (const [index, block] of objects(message.content).entries()) decoder.addBlock(index, block)
  decoder.finish(message ? outcomeOf(stringOf(body.stopReason)) : failed(errorIn(body)), body)
  return remember(fold(decoder.items.drain()), { dialect, body })
}
