import type { Reading } from '../../protocol/dialect.ts'
import { fold } from '../../protocol/fold.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceResponse } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { drainEvents } from '../item-assembler.ts'
import { createDecoderState, decodeChunk, finish } from './decode-stream.ts'
import { noCandidates } from './errors.ts'
import { finishCall } from './part-assembler.ts'
import { dialect } from './wire.ts'

/** A response is decoded as a stream of one chunk. */
export function decodeResponse(body: JsonObject, reading?: Reading): InferenceResponse {
  const state = createDecoderState(reading)
  decodeChunk(state, body)
  if (!state.isFinished) {
    // A call whose arguments are cut short counts as an answer, too.
    finishCall(state)
    finish(state, state.hasAnswer ? { status: 'completed' } : noCandidates)
  }
  return remember(fold(drainEvents(state)), { dialect, body })
}
