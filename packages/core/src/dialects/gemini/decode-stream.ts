import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import { fold } from '../../protocol/fold.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceResponse, Outcome } from '../../protocol/response.ts'
import type { Frame, Json, JsonObject } from '../../protocol/wire.ts'
import { unreadable } from '../failure.ts'
import { readFrame } from '../frame.ts'
import { objects } from '../json.ts'
import { followAnswer } from './answer.ts'
import { broken, dialect, truncated } from './wire.ts'

export function decodeEvents(reading?: Reading): EventDecoder {
  const answer = followAnswer(reading)
  const take = (frame: Frame): void => {
    const piece = readFrame(frame)
    if (piece === 'broken') answer.finish(() => broken)
    else if (piece === 'nothing') for (const each of listIn(frame)) answer.take(each)
    else if (piece !== 'done') answer.take(piece)
  }
  return {
    read(frames) {
      for (const frame of frames) if (!answer.over) take(frame)
      return answer.drain()
    },
    end() {
      if (!answer.over) answer.finish(() => truncated)
      return answer.drain()
    },
  }
}

/** An error in the midst of a stream may come as a list of one. */
const listIn = ({ data }: Frame): readonly JsonObject[] => (data.trimStart().startsWith('[') ? objects(JSON.parse(data) as Json) : [])

const silent: Outcome = { status: 'failed', error: unreadable('The provider’s answer has no candidates.') }

/** A whole answer is a stream of one piece. */
export function decodeResponse(body: JsonObject, reading?: Reading): InferenceResponse {
  const answer = followAnswer(reading)
  answer.take(body)
  if (!answer.over) answer.finish(answered => (answered ? { status: 'completed' } : silent))
  return remember(fold(answer.drain()), { dialect, body })
}
