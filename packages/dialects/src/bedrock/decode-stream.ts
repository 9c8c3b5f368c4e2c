import { failed } from '../common/answer-failures.ts'
import { type DeltaFrames, onlyText } from '../common/delta-template.ts'
import { failureFrom } from '../common/failure.ts'
import { stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type StreamDecoderState, streamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { Outcome } from '../protocol/response.ts'
import { type Frame, isObject, type JsonObject } from '../protocol/wire.ts'
import {
  addCall,
  addCitation,
  addInput,
  addOther,
  addRedacted,
  addSignature,
  addText,
  addThinking,
  type BlockAssembler,
  callStart,
  createBlockAssembler,
  finishAnswer,
  stopBlock,
} from './block-assembler.ts'
import { errorDetails, invalidJson } from './errors.ts'
import { inputText, outcomeOf } from './wire.ts'

// Only calls have a start event; text or reasoning starts with its first delta.

interface DecoderState extends BlockAssembler, StreamDecoderState {
  /** Set by the stop reason. `metadata`, which has the usage, may come before or after it. */
  outcome: Outcome | undefined
  metadata: JsonObject
  hasMetadata: boolean
  /** Index of the latest block, for events without one. */
  lastIndex: number
}

export function decodeEvents(mapping?: ResponseMapping): EventDecoder {
  const state: DecoderState = {
    ...createBlockAssembler(mapping),
    outcome: undefined,
    metadata: {},
    hasMetadata: false,
    isFinished: false,
    lastIndex: 0,
  }
  return streamDecoder(state, { decodeFrame, finish: finishStream, deltaFrames })
}

/** `p` hides the length of a frame. */
const deltaFrames: DeltaFrames = { textOf: ({ delta }) => onlyText(delta, ['text']), varying: ['p'] }

/** Names of events that end a stream with an error. */
const errorEvent = /(exception|error)$/i
/** A transport error, whose code is in the body. */
const transportError = 'error'

function decodeFrame(state: DecoderState, frame: Frame): void {
  const { event = '' } = frame
  const body = readFrame(frame)
  if (errorEvent.test(event)) {
    const details = errorDetails(event === transportError ? '' : event, isObject(body) ? body : {})
    finishStream(state, failed(failureFrom(details)))
  } else if (body === 'broken') finishStream(state, invalidJson)
  else if (isObject(body)) handlers.get(event)?.(state, body)
  if (state.outcome && state.hasMetadata && !state.isFinished) finishStream(state, state.outcome)
}

type EventHandler = (state: DecoderState, body: JsonObject) => void

const handlers: ReadonlyMap<string, EventHandler> = new Map<string, EventHandler>([
  ['contentBlockDelta', handleBlockDelta],
  ['contentBlockStart', handleBlockStart],
  ['contentBlockStop', handleBlockStop],
  ['messageStop', handleMessageStop],
  ['metadata', handleMetadata],
])

function handleBlockDelta(state: DecoderState, body: JsonObject): void {
  if (state.outcome || !isObject(body.delta)) return
  const index = blockIndex(state, body)
  const { text, toolUse, reasoningContent: reasoning } = body.delta
  if (typeof text === 'string') addText(state, index, text)
  if (isObject(toolUse)) addInput(state, index, inputText(toolUse) ?? '')
  if (isObject(body.delta.citation)) addCitation(state, body.delta.citation)
  addOther(state, body.delta)
  if (!isObject(reasoning)) return
  addThinking(state, index, stringOf(reasoning.text))
  addSignature(state, index, stringOf(reasoning.signature))
  addRedacted(state, index, stringOf(reasoning.redactedContent))
}

function handleBlockStart(state: DecoderState, body: JsonObject): void {
  if (state.outcome) return
  const index = blockIndex(state, body)
  const call = isObject(body.start) ? body.start.toolUse : undefined
  if (isObject(body.start)) addOther(state, body.start)
  if (isObject(call)) addCall(state, index, callStart(call))
}

function handleBlockStop(state: DecoderState, body: JsonObject): void {
  if (!state.outcome) stopBlock(state, blockIndex(state, body))
}

function handleMessageStop(state: DecoderState, { stopReason }: JsonObject): void {
  state.outcome ??= outcomeOf(stringOf(stopReason))
}

function handleMetadata(state: DecoderState, metadata: JsonObject): void {
  state.hasMetadata = true
  state.metadata = metadata.usage ? metadata : state.metadata
}

function blockIndex(state: DecoderState, { contentBlockIndex: index }: JsonObject): number {
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) state.lastIndex = index
  return state.lastIndex
}

function finishStream(state: DecoderState, outcome: Outcome): void {
  state.isFinished = true
  finishAnswer(state, state.outcome ?? outcome, state.metadata)
}
