import type { EventDecoder, ResponseMapping } from '../../protocol/dialect.ts'
import type { Frame } from '../../protocol/wire.ts'
import { invalidJson, truncated } from '../answer-failures.ts'
import { readFrame } from '../parse-frame.ts'
import { streamDecoder } from '../stream-decoder.ts'
import { type AnswerDecoder, createAnswerDecoder, decodeChunk, finishAnswer } from './decode-chunk.ts'

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder =>
  streamDecoder(createAnswerDecoder(mapping), { decodeFrame, finish: finishAnswer })

function decodeFrame(decoder: AnswerDecoder, frame: Frame): void {
  const chunk = readFrame(frame)
  if (chunk === 'broken') finishAnswer(decoder, invalidJson)
  else if (chunk === 'done') finishAnswer(decoder, decoder.count > 0 ? { status: 'completed' } : truncated)
  else if (chunk !== 'nothing') decodeChunk(decoder, chunk)
}
