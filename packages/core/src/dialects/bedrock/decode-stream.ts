import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import type { Outcome } from '../../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { failureOf } from '../failure.ts'
import { readFrame } from '../frame.ts'
import { stringOf } from '../json.ts'
import { startTelling } from './telling.ts'
import { broken, complaintOf, failed, inputOf, outcomeOf, truncated } from './wire.ts'

// Events → facts. Only calls announce themselves; a text or a thought begins with its first piece. Usage comes behind the
// end of the message, or before it.

/** What ends a stream that cannot go on. */
const exception = /(exception|error)$/i
/** An error of the transport, not of the service: its name stands inside. */
const ofTransport = 'error'

export function decodeEvents(reading?: Reading): EventDecoder {
  const telling = startTelling(reading)
  let ending: Outcome | undefined
  let usage: Json | undefined
  let metadata = false
  let over = false
  /** The block that was spoken of last, for events that name none. */
  let place = 0

  const finish = (outcome: Outcome): void => {
    over = true
    telling.finish(ending ?? outcome, usage)
  }

  const placeOf = ({ contentBlockIndex: index }: JsonObject): number => {
    if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) place = index
    return place
  }

  const takeDelta = (at: number, { text, toolUse, reasoningContent: thought }: JsonObject): void => {
    if (typeof text === 'string') telling.text(text)
    if (isObject(toolUse)) telling.input(at, inputOf(toolUse) ?? '')
    if (!isObject(thought)) return
    telling.think(at, stringOf(thought.text))
    telling.sign(at, stringOf(thought.signature))
    telling.hide(at, stringOf(thought.redactedContent))
  }

  const take = (event: string, body: JsonObject): void => {
    if (event === 'metadata') {
      metadata = true
      usage = body.usage ?? usage
    } else if (ending) return
    else if (event === 'contentBlockDelta') {
      if (isObject(body.delta)) takeDelta(placeOf(body), body.delta)
    } else if (event === 'contentBlockStart') {
      const at = placeOf(body)
      const call = isObject(body.start) ? body.start.toolUse : undefined
      if (isObject(call)) telling.call(at, stringOf(call.toolUseId), stringOf(call.name))
    } else if (event === 'contentBlockStop') telling.stop(placeOf(body))
    else if (event === 'messageStop') ending = outcomeOf(stringOf(body.stopReason))
  }

  const read = (frame: Frame): void => {
    const { event = '' } = frame
    const body = readFrame(frame)
    if (exception.test(event)) finish(failed(failureOf(complaintOf(event === ofTransport ? '' : event, isObject(body) ? body : {}))))
    else if (body === 'broken') finish(broken)
    else if (isObject(body)) take(event, body)
    if (ending && metadata && !over) finish(ending)
  }

  return {
    read(frames) {
      for (const frame of frames) if (!over) read(frame)
      return telling.drain()
    },
    end() {
      if (!over) finish(truncated)
      return telling.drain()
    },
  }
}
