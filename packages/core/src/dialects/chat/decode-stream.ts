import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import type { Outcome } from '../../protocol/response.ts'
import type { Frame } from '../../protocol/wire.ts'
import { unreadable } from '../failure.ts'
import { readFrame } from '../frame.ts'
import { drainEvents } from '../item-assembler.ts'
import { type AnswerDecoder, createAnswerDecoder, decodeChunk, finishAnswer } from './decode-chunk.ts'

export function decodeEvents(reading?: Reading): EventDecoder {
  const decoder = createAnswerDecoder(reading)
  return {
    read(frames) {
      for (const frame of frames) if (!decoder.ended) decodeFrame(decoder, frame)
      return drainEvents(decoder.assembler)
    },
    end() {
      if (!decoder.ended) finishAnswer(decoder, truncated)
      return drainEvents(decoder.assembler)
    },
  }
}

function decodeFrame(decoder: AnswerDecoder, frame: Frame): void {
  const chunk = readFrame(frame)
  if (chunk === 'broken') finishAnswer(decoder, broken)
  else if (chunk === 'done') finishAnswer(decoder, decoder.assembler.count > 0 ? { status: 'completed' } : truncated)
  else if (chunk !== 'nothing') decodeChunk(decoder, chunk)
}

const broken: Outcome = { status: 'failed', error: unreadable('The provider sent an event that is not valid JSON.') }
const truncated: Outcome = { status: 'failed', error: unreadable('The provider’s stream ended before the answer was finished.') }
