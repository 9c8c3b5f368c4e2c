import { failed, invalidJson } from '../common/answer-failures.ts'
import { emitEvent, emitItem, emptyMessage, noteUnmodeled } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type StreamDecoderState, streamDecoder } from '../common/stream-decoder.ts'
import { isCounted } from '../common/usage.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { Outcome } from '../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { hasSources, mergeSources, toolsBesideSearch, unmodeledIn } from './citations.ts'
import { errorIn } from './errors.ts'
import { addPart, createPartAssembler, finishOpenCall, finishText, type PartAssembler } from './part-assembler.ts'
import {
  contentParts,
  countUsage,
  filtered,
  firstCandidate,
  isPromptBlocked,
  logprobsOf,
  mergeUsage,
  noLogprobs,
  outcomeOf,
  readHead,
} from './wire.ts'

// This dialect has no event types: a stream is a list of chunks, and a response is a single chunk. Every chunk may have a finish reason, so
// only the end of the stream ends the response.

export interface DecoderState extends PartAssembler, StreamDecoderState {
  readonly usage: Record<string, Json | undefined>
  finishReason: string
  isPromptBlocked: boolean
}

export const createDecoderState = (mapping: ResponseMapping | undefined): DecoderState => ({
  ...createPartAssembler(mapping),
  usage: Object.create(null),
  finishReason: '',
  isPromptBlocked: false,
  isFinished: false,
})

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder =>
  streamDecoder(createDecoderState(mapping), { decodeFrame, finish: finishStream })

function decodeFrame(state: DecoderState, frame: Frame): void {
  const chunk = readFrame(frame)
  if (chunk === 'broken') finishStream(state, invalidJson)
  else if (chunk === 'nothing') for (const each of chunksIn(frame)) decodeChunk(state, each)
  else if (chunk !== 'done') decodeChunk(state, chunk)
}

/** A mid-stream error may be sent as a list of one chunk. */
const chunksIn = ({ data }: Frame): readonly JsonObject[] => (data.trimStart().startsWith('[') ? objects(JSON.parse(data) as Json) : [])

export function decodeChunk(state: DecoderState, chunk: JsonObject): void {
  if (state.isFinished) return
  startAnswer(state, chunk)
  mergeUsage(state.usage, chunk)
  const error = errorIn(chunk)
  if (error) {
    state.fault = failed(error)
    finishStream(state, state.fault)
    return
  }
  state.isPromptBlocked ||= isPromptBlocked(chunk)
  const candidate = firstCandidate(chunk)
  if (candidate) decodeCandidate(state, candidate)
}

function startAnswer(state: DecoderState, chunk: JsonObject): void {
  if (state.head) return
  state.head = readHead(chunk)
  const usage = isObject(chunk.usageMetadata) ? countUsage(chunk.usageMetadata, 0) : undefined
  emitEvent(state, { type: 'started', ...state.head, ...(usage && { usage }) })
}

function decodeCandidate(state: DecoderState, candidate: JsonObject): void {
  state.sources = mergeSources(state.sources, candidate)
  for (const type of unmodeledIn(candidate)) noteUnmodeled(state, type)
  let logprobs = logprobsOf(candidate)
  for (const part of contentParts(candidate)) {
    addPart(state, part, logprobs)
    // Log probabilities belong to the whole chunk; its first text gets them.
    if (state.openText?.kind === 'text') logprobs = noLogprobs
  }
  state.finishReason = stringOf(candidate.finishReason) || state.finishReason
}

/** `fallback`: the outcome if the provider sent none. */
export function finishStream(state: DecoderState, fallback: Outcome): void {
  startAnswer(state, {})
  finishOpenCall(state)
  const outcome = state.fault ?? receivedOutcome(state) ?? fallback
  finishText(state, outcome.status === 'completed' ? 'completed' : 'incomplete')
  if (hasSources(state.sources)) noteUnmodeled(state, 'groundingMetadata')
  if (state.count === 0 && outcome.status === 'completed') emitItem(state, emptyMessage)
  const usage = countUsage(state.usage, state.sources.searches, toolsBesideSearch(state.sources))
  const { unmodeled } = state
  const extras = { ...(isCounted(usage, state.count > 0) && { usage }), ...(unmodeled && { unmodeled: [...unmodeled] }) }
  emitEvent(state, { type: 'finished', outcome, ...extras })
  state.isFinished = true
}

function receivedOutcome({ finishReason, hasAnswer, callIds, isPromptBlocked }: DecoderState): Outcome | undefined {
  if (finishReason !== '') return outcomeOf(finishReason, { hasAnswer, hasCall: callIds.size > 0 })
  return isPromptBlocked ? filtered : undefined
}
