import { invalidJson, truncated } from '../common/answer-failures.ts'
import { type DeltaFrames, onlyText } from '../common/delta-template.ts'
import { objects } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { streamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { Frame, Json, JsonObject } from '../protocol/wire.ts'
import { type AnswerDecoder, createAnswerDecoder, decodeChunk, finishAnswer } from './decode-chunk.ts'
import { firstChoice, usageIn } from './wire.ts'

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder =>
  streamDecoder(createAnswerDecoder(mapping), { decodeFrame, finish: finishAnswer, deltaFrames })

function decodeFrame(decoder: AnswerDecoder, frame: Frame): void {
  const chunk = readFrame(frame)
  if (chunk === 'broken') finishAnswer(decoder, invalidJson)
  else if (chunk === 'done') finishAnswer(decoder, decoder.count > 0 ? { status: 'completed' } : truncated)
  else if (chunk !== 'nothing') decodeChunk(decoder, chunk)
}

const deltaFrames: DeltaFrames = { textOf: textOfChunk, varying: ['created', 'obfuscation'] }

/** Usage, pieces of calls and the chunk of a finish reason are collected, so chunks with them are always decoded. */
function textOfChunk(chunk: JsonObject): Json | undefined {
  const choice = firstChoice(chunk)
  if (!choice || choice.finish_reason || objects(chunk.choices).length !== 1) return undefined
  return usageIn(chunk, choice) === undefined ? onlyText(choice.delta, ['content', 'reasoning_content', 'reasoning']) : undefined
}
