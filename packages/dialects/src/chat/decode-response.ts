import { failed } from '../common/answer-failures.ts'
import { unreadable } from '../common/failure.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import { fold } from '../protocol/fold.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { ChunkDecoder } from './decode-stream.ts'
import { dialect, firstChoice } from './wire.ts'

/** Decodes a whole response as a single chunk. It is complete with or without a finish reason. */
export function decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse {
  const decoder = new ChunkDecoder(mapping)
  decoder.decodeChunk(body)
  if (!decoder.items.isFinished) decoder.finish(firstChoice(body) ? { status: 'completed' } : withoutChoices)
  return remember(fold(decoder.items.drain()), { dialect, body })
}

const withoutChoices = failed(unreadable('The response of the provider has no choices.'))
