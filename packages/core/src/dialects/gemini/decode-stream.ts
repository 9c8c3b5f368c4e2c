import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import type { Outcome } from '../../protocol/response.ts'
import type { Frame, Json, JsonObject } from '../../protocol/wire.ts'
import { failed, invalidJson, truncated } from '../answer-failures.ts'
import { readFrame } from '../frame.ts'
import { drainEvents, emitItem, emptyMessage } from '../item-assembler.ts'
import { objects, stringOf } from '../json.ts'
import { isCounted, readUsage, usageNames } from '../usage.ts'
import { mergeSources } from './citations.ts'
import { errorIn } from './errors.ts'
import { addPart, createPartAssembler, finishCall, finishText, type PartAssembler } from './part-assembler.ts'
import { filtered, firstCandidate, isPromptBlocked, logprobsOf, mergeUsage, noLogprobs, outcomeOf, partsOf, readHead } from './wire.ts'

// This dialect has no types of events: a stream is a list of chunks, and a response is a single chunk. Every chunk may hold a
// finish reason, so only the end of the stream ends the answer.

export interface DecoderState extends PartAssembler {
  readonly usage: Record<string, Json | undefined>
  finishReason: string
  isPromptBlocked: boolean
  isFinished: boolean
}

export const createDecoderState = (reading: Reading | undefined): DecoderState => ({
  ...createPartAssembler(reading),
  usage: Object.create(null),
  finishReason: '',
  isPromptBlocked: false,
  isFinished: false,
})

export function decodeEvents(reading?: Reading): EventDecoder {
  const state = createDecoderState(reading)
  return {
    read(frames) {
      for (const frame of frames) if (!state.isFinished) decodeFrame(state, frame)
      return drainEvents(state)
    },
    end() {
      if (!state.isFinished) finish(state, truncated)
      return drainEvents(state)
    },
  }
}

function decodeFrame(state: DecoderState, frame: Frame): void {
  const chunk = readFrame(frame)
  if (chunk === 'broken') finish(state, invalidJson)
  else if (chunk === 'nothing') for (const each of chunksIn(frame)) decodeChunk(state, each)
  else if (chunk !== 'done') decodeChunk(state, chunk)
}

/** An error in the middle of a stream may be sent as a list of one chunk. */
const chunksIn = ({ data }: Frame): readonly JsonObject[] => (data.trimStart().startsWith('[') ? objects(JSON.parse(data) as Json) : [])

export function decodeChunk(state: DecoderState, chunk: JsonObject): void {
  if (state.isFinished) return
  start(state, chunk)
  mergeUsage(state.usage, chunk)
  const error = errorIn(chunk)
  if (error) {
    state.fault = failed(error)
    finish(state, state.fault)
    return
  }
  state.isPromptBlocked ||= isPromptBlocked(chunk)
  const candidate = firstCandidate(chunk)
  if (candidate) decodeCandidate(state, candidate)
}

function start(state: DecoderState, chunk: JsonObject): void {
  if (state.head) return
  state.head = readHead(chunk)
  state.events.push({ type: 'started', ...state.head })
}

function decodeCandidate(state: DecoderState, candidate: JsonObject): void {
  state.sources = mergeSources(state.sources, candidate)
  let logprobs = logprobsOf(candidate)
  for (const part of partsOf(candidate)) {
    addPart(state, part, logprobs)
    // They are those of the whole chunk: its first text gets them.
    if (state.openText?.kind === 'text') logprobs = noLogprobs
  }
  state.finishReason = stringOf(candidate.finishReason) || state.finishReason
}

/** `fallback`: the outcome if the provider did not send one. */
export function finish(state: DecoderState, fallback: Outcome): void {
  start(state, {})
  finishCall(state)
  const outcome = state.fault ?? receivedOutcome(state) ?? fallback
  finishText(state, outcome.status === 'completed' ? 'completed' : 'incomplete')
  if (state.count === 0 && outcome.status === 'completed') emitItem(state, emptyMessage)
  const usage = readUsage(state.usage, usageNames.gemini)
  state.events.push({ type: 'finished', outcome, ...(isCounted(usage, state.count > 0) && { usage }) })
  state.isFinished = true
}

function receivedOutcome({ finishReason, hasAnswer, isPromptBlocked }: DecoderState): Outcome | undefined {
  if (finishReason !== '') return outcomeOf(finishReason, hasAnswer)
  return isPromptBlocked ? filtered : undefined
}
