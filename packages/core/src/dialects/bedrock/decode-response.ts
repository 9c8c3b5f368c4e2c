import type { Reading } from '../../protocol/dialect.ts'
import { fold } from '../../protocol/fold.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceResponse } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { objects, stringOf } from '../json.ts'
import { startTelling, type Telling } from './telling.ts'
import { broken, dialect, errorIn, failed, inputOf, outcomeOf } from './wire.ts'

/** A whole answer, told block by block as a stream would be: one path, so that both say the same. */
export function decodeResponse(body: JsonObject, reading?: Reading): InferenceResponse {
  const telling = startTelling(reading)
  const message = isObject(body.output) && isObject(body.output.message) ? body.output.message : undefined
  if (message) {
    for (const [place, block] of objects(message.content).entries()) tellBlock(telling, place, block)
    telling.finish(outcomeOf(stringOf(body.stopReason)), body.usage)
  } else telling.finish(failed(errorIn(body)), body.usage)
  return remember(fold(telling.drain()), { dialect, body })
}

function tellBlock(telling: Telling, place: number, { text, toolUse, reasoningContent: thought, citationsContent }: JsonObject): void {
  if (typeof text === 'string') telling.text(text)
  // Text with its sources in a document; they have no address that could be cited.
  if (isObject(citationsContent)) for (const piece of objects(citationsContent.content)) telling.text(stringOf(piece.text))
  if (isObject(toolUse)) {
    telling.call(place, stringOf(toolUse.toolUseId), stringOf(toolUse.name))
    const input = inputOf(toolUse)
    if (input === undefined) telling.spoil(broken)
    else telling.input(place, input)
  }
  if (isObject(thought)) {
    const words = isObject(thought.reasoningText) ? thought.reasoningText : {}
    telling.think(place, stringOf(words.text))
    telling.sign(place, stringOf(words.signature))
    telling.hide(place, stringOf(thought.redactedContent))
  }
  telling.stop(place)
}
