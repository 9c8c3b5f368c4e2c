import { failed, invalidJson, truncated } from '../common/answer-failures.ts'
import { type DeltaFrames, onlyText } from '../common/delta-template.ts'
import { emitEvent, emitItem, emptyMessage } from '../common/item-assembler.ts'
import { addFields, type GatheredFields, gatherFields, objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type StreamDecoderState, streamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { remember } from '../protocol/original.ts'
import type { Outcome } from '../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import {
  appendToBlock,
  type BlockAssembler,
  createBlockAssembler,
  finishBlock,
  finishBlockItem,
  finishItems,
  startBlock,
} from './block-assembler.ts'
import { errorIn, secondMessage } from './errors.ts'
import { addDelta, inferredBlocks, type PartialBlock, textDeltas } from './partial-blocks.ts'
import { decodeUsage, dialect, outcomeOf, readHead } from './wire.ts'

interface DecoderState extends BlockAssembler, StreamDecoderState {
  isStarted: boolean
  /** The fields of the message so far, without its content. */
  message: GatheredFields | undefined
  usage: GatheredFields
  /** False while only `message_start` has sent counts, which do not cover the response. */
  hasFinalUsage: boolean
  /** Blocks by their index in the stream. */
  blocks: Map<number, PartialBlock>
  lastBlock: PartialBlock | undefined
  /** Set by the stop reason; only usage counts after it. */
  outcome: Outcome | undefined
}

export function decodeEvents(mapping: ResponseMapping = {}): EventDecoder {
  const state: DecoderState = {
    ...createBlockAssembler(mapping),
    isStarted: false,
    message: undefined,
    usage: gatherFields({}),
    hasFinalUsage: false,
    blocks: new Map(),
    lastBlock: undefined,
    outcome: undefined,
    isFinished: false,
  }
  return streamDecoder(state, { decodeFrame, finish: finishStream, deltaFrames })
}

/** The text of other events is that of a whole block, even if they have a delta. */
const deltaFrames: DeltaFrames = {
  textOf: ({ type, delta }) => (type === 'content_block_delta' ? onlyText(delta, ['text', 'thinking', 'partial_json']) : undefined),
  varying: [],
}

function decodeFrame(state: DecoderState, frame: Frame): void {
  const body = readFrame(frame)
  if (body === 'broken') finishStream(state, invalidJson)
  else if (body !== 'nothing' && body !== 'done') decodeEvent(state, eventName(body, frame), body)
}

/** The event name. The type may be in the frame only, and an error may have no type. */
const eventName = ({ type, error }: JsonObject, { event }: Frame): string => {
  if (typeof type === 'string') return type
  return error === undefined || error === null ? (event ?? '') : 'error'
}

function decodeEvent(state: DecoderState, name: string, body: JsonObject): void {
  const handler = handlers.get(name)
  if (!handler) return
  if (name !== 'message_start' && name !== 'error') startAnswer(state, {})
  handler(state, body)
  if (state.fault && !state.isFinished) finishStream(state, state.fault)
}

type EventHandler = (state: DecoderState, body: JsonObject) => void

const handlers: ReadonlyMap<string, EventHandler> = new Map<string, EventHandler>([
  ['content_block_delta', handleBlockDelta],
  ['content_block_start', handleBlockStart],
  ['content_block_stop', handleBlockStop],
  ['message_start', handleMessageStart],
  ['message_delta', handleMessageDelta],
  ['message_stop', handleMessageStop],
  ['error', handleError],
])

function startAnswer(state: DecoderState, message: JsonObject): void {
  if (state.isStarted) return
  state.isStarted = true
  const head = readHead(message)
  state.answerId = head.id
  const usage = decodeUsage(message.usage, true)
  emitEvent(state, remember<InferenceEvent>({ type: 'started', ...head, ...(usage && { usage }) }, { dialect, body: message }))
}

function handleMessageStart(state: DecoderState, { message: body }: JsonObject): void {
  if (state.outcome) return
  if (state.count > 0) {
    finishStream(state, secondMessage)
    return
  }
  state.items = new Set()
  state.lastItem = undefined
  state.content = []
  state.blocks = new Map()
  state.lastBlock = undefined
  const message = isObject(body) ? body : {}
  state.message = gatherFields(message)
  state.usage = gatherFields(isObject(message.usage) ? message.usage : {})
  startAnswer(state, message)
}

function handleBlockStart(state: DecoderState, { index, content_block: wire }: JsonObject): void {
  if (!state.outcome && isObject(wire)) openBlock(state, wire, index)
}

function openBlock(state: DecoderState, wire: JsonObject, index: Json | undefined): PartialBlock | undefined {
  const block = startBlock(state, wire)
  if (!block) return undefined
  state.lastBlock = block
  if (isIndex(index)) state.blocks.set(index, block)
  return block
}

const isIndex = (value: Json | undefined): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** The open block of an event. If that block is complete, a new one has started without a start event. */
function openBlockAt(state: DecoderState, index: Json | undefined): PartialBlock | undefined {
  const block = isIndex(index) ? state.blocks.get(index) : state.lastBlock
  return block?.complete ? undefined : block
}

function handleBlockDelta(state: DecoderState, { index, delta }: JsonObject): void {
  if (state.outcome || !isObject(delta)) return
  const block = openBlockAt(state, index) ?? inferBlock(state, delta, index)
  if (!block) return
  const { type, field } = textDeltas[block.kind]
  if (delta.type === type) appendToBlock(state, block, stringOf(delta[field]))
  else addDelta(block, delta)
}

function inferBlock(state: DecoderState, { type }: JsonObject, index: Json | undefined): PartialBlock | undefined {
  const wire = inferredBlocks.get(stringOf(type))
  return wire && openBlock(state, wire, index)
}

function handleBlockStop(state: DecoderState, { index }: JsonObject): void {
  const block = state.outcome ? undefined : openBlockAt(state, index)
  if (!block) return
  finishBlock(state, block)
  // An item that is not the last one gets no more blocks.
  if (block.item !== state.lastItem && block.item.openBlocks === 0) finishBlockItem(state, block.item, 'completed')
}

function handleMessageDelta(state: DecoderState, { type, delta, usage, ...rest }: JsonObject): void {
  const fields = isObject(delta) ? withoutNulls(delta) : {}
  state.message ??= gatherFields({})
  addFields(state.message, rest)
  addFields(state.message, fields)
  if (isObject(usage)) {
    addFields(state.usage, withoutNulls(usage))
    state.hasFinalUsage = true
  }
  if (!state.outcome && typeof fields.stop_reason === 'string') settleOutcome(state, outcomeOf(fields.stop_reason))
}

/** Removes nulls, so that they never replace an earlier value. */
const withoutNulls = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

function handleMessageStop(state: DecoderState): void {
  const { stop_reason } = state.message?.fields ?? {}
  const hasStopReason = typeof stop_reason === 'string'
  state.hasFinalUsage ||= hasStopReason
  finishStream(state, hasStopReason || state.count > 0 || state.items.size > 0 ? outcomeOf(stringOf(stop_reason)) : truncated)
}

function handleError(state: DecoderState, body: JsonObject): void {
  const error = state.outcome ? undefined : errorIn({ ...body, type: 'error' })
  if (error) finishStream(state, failed(error))
}

/** Decides the outcome and finishes all items. */
function settleOutcome(state: DecoderState, outcome: Outcome): void {
  const fields = state.message?.fields ?? {}
  const isEmpty = state.count === 0 && state.items.size === 0
  // Some servers send the whole content in `message_start`.
  if (isEmpty && outcome.status !== 'failed')
    for (const wire of objects(fields.content)) {
      const block = startBlock(state, wire)
      if (block) finishBlock(state, block)
    }
  state.outcome = state.fault ?? outcome
  finishItems(state, state.outcome, fields)
  if (state.count === 0 && state.outcome.status === 'completed') emitItem(state, emptyMessage)
}

function finishStream(state: DecoderState, outcome: Outcome): void {
  startAnswer(state, {})
  if (!state.outcome) settleOutcome(state, outcome)
  state.isFinished = true
  const usage = state.hasFinalUsage ? decodeUsage(state.usage.fields, state.count > 0) : undefined
  const { message, content, unmodeled } = state
  const extras = { ...(usage && { usage }), ...(unmodeled && { unmodeled: [...unmodeled] }) }
  const event: InferenceEvent = { type: 'finished', outcome: state.outcome ?? outcome, ...extras }
  emitEvent(state, remember(event, message && { dialect, body: { ...message.fields, content, usage: state.usage.fields } }))
}
