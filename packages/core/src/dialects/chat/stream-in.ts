import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import { fold } from '../../protocol/fold.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceResponse, Outcome } from '../../protocol/response.ts'
import type { Frame, JsonObject } from '../../protocol/wire.ts'
import { unreadable } from '../failure.ts'
import { readFrame } from '../frame.ts'
import { followAnswer } from './answer.ts'
import { dialect, firstChoice } from './wire.ts'

// What a provider sends, in frames or whole. A whole answer is read as the one chunk that it is.

export function decodeEvents(reading?: Reading): EventDecoder {
  const answer = followAnswer(reading)
  const take = (frame: Frame): void => {
    const chunk = readFrame(frame)
    if (chunk === 'broken') answer.finish(broken)
    else if (chunk === 'done') answer.finish(answer.begun() ? { status: 'completed' } : truncated)
    else if (chunk !== 'nothing') answer.take(chunk)
  }
  return {
    read(frames) {
      for (const frame of frames) if (!answer.ended()) take(frame)
      return answer.drain()
    },
    end() {
      if (!answer.ended()) answer.finish(truncated)
      return answer.drain()
    },
  }
}

/** A whole answer is over, whether or not it says why. */
export function decodeResponse(body: JsonObject, reading?: Reading): InferenceResponse {
  const answer = followAnswer(reading)
  answer.take(body)
  if (!answer.ended()) answer.finish(firstChoice(body) ? { status: 'completed' } : empty)
  return remember(fold(answer.drain()), { dialect, body })
}

const broken: Outcome = { status: 'failed', error: unreadable('The provider sent an event that is not valid JSON.') }
const truncated: Outcome = { status: 'failed', error: unreadable('The provider’s stream ended before the answer was finished.') }
const empty: Outcome = { status: 'failed', error: unreadable('The provider’s answer has no choices.') }
