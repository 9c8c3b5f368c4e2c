import type { ResponseMapping } from '../protocol/dialect.ts'
import { fold } from '../protocol/fold.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { CandidateDecoder } from './decode-stream.ts'
import { noCandidates } from './errors.ts'
import { dialect } from './wire.ts'

/** Decodes a whole response as a stream of one chunk. */
export function decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse {
  const decoder = new CandidateDecoder(mapping)
  decoder.decodeChunk(body)
  if (!decoder.items.isFinished) {
    decoder.finishCall()
    decoder.finish(decoder.hasAnswer ? { status: 'completed' } : noCandidates)
  }
  return remember(fold(decoder.items.drain()), { dialect, body })
}
