import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import type { Frame } from '../../protocol/wire.ts'
import { invalidJson, truncated } from '../answer-failures.ts'
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
  if (chunk === 'broken') finishAnswer(decoder, invalidJson)
  else if (chunk === 'done') finishAnswer(decoder, decoder.assembler.count > 0 ? { status: 'completed' } : truncated)
  else if (chunk !== 'nothing') decodeChunk(decoder, chunk)
}
