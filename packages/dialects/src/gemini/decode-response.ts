import { drainEvents } from '../common/item-assembler.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import { fold } from '../protocol/fold.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { createDecoderState, decodeChunk, finishStream } from './decode-stream.ts'
import { noCandidates } from './errors.ts'
import { finishOpenCall } from './part-assembler.ts'
import { dialect } from './wire.ts'

/** Decodes a whole response as a stream of one chunk. */
export function decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse {
  const state = createDecoderState(mapping)
  decodeChunk(state, body)
  if (!state.isFinished) {
    // A call with truncated arguments counts as content too.
    finishOpenCall(state)
    finishStream(state, state.hasAnswer ? { status: 'completed' } : noCandidates)
  }
  return remember(fold(drainEvents(state)), { dialect, body })
}
