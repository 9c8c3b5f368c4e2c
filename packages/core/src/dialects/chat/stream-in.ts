import type { EventDecoder } from '../../protocol/dialect.ts'
import type { InferenceEvent } from '../../protocol/event.ts'
import type { Item, ItemStatus, Part } from '../../protocol/item.ts'
import type { Outcome } from '../../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { unreadable } from '../failure.ts'
import { readFrame } from '../frame.ts'
import { stringOf } from '../json.ts'
import { mintCallId } from '../mint.ts'
import { type Call, type Calls, callItem, followCalls, isComplete } from './calls.ts'
import { emptyMessage } from './items.ts'
import {
  annotationsOf,
  type CallPiece,
  callsIn,
  countUsage,
  errorOf,
  firstChoice,
  headOf,
  logprobsOf,
  outcomeOf,
  type Said,
  saidIn,
  usageIn,
} from './wire.ts'

// Chunks → facts. This language has no items, so when one begins and ends is decided here: speech ends when something else
// begins, a call ends when the next begins and its arguments are whole. Calls whose arguments come interleaved stay open
// together: positions keep the order of the output, nothing has to be held back, and nothing that comes late is lost.

interface Speech {
  readonly index: number
  readonly kind: 'reasoning' | 'message'
  readonly parts: SpokenPart[]
}

interface SpokenPart {
  readonly kind: Said['kind']
  text: string
  readonly annotations: JsonObject[]
  readonly logprobs: JsonObject[]
}

export function decodeEvents(): EventDecoder {
  let facts: InferenceEvent[] = []
  let head: ReturnType<typeof headOf> | undefined
  let speech: Speech | undefined
  let count = 0
  let usage: Json | undefined
  /** Set by a finish reason: all that may still come is usage. */
  let ending: Outcome | undefined
  let ended = false
  const calls: Calls = followCalls((place, name) => mintCallId(head?.id ?? '', head?.created_at ?? 0, place, name))

  const begin = (chunk: JsonObject): void => {
    if (head) return
    head = headOf(chunk)
    facts.push({ type: 'started', ...head })
  }

  const startItem = (item: Item): number => {
    facts.push({ type: 'item_started', index: count, item })
    return count++
  }

  const speak = ({ kind, text }: Said, choice: JsonObject): void => {
    const itemKind = kind === 'reasoning' ? 'reasoning' : 'message'
    if (speech?.kind !== itemKind) {
      closeSpeech('completed')
      finishCalls(calls.whole)
      speech = { kind: itemKind, index: startItem(shells[itemKind]), parts: [] }
    }
    const last = speech.parts.at(-1)
    const part = last?.kind === kind ? last : { kind, text: '', annotations: [], logprobs: [] }
    if (part !== last) speech.parts.push(part)
    const logprobs = kind === 'text' ? logprobsOf(choice) : []
    part.text += text
    for (const entry of logprobs) part.logprobs.push(entry)
    facts.push({
      type: 'delta',
      index: speech.index,
      delta: { kind, part: speech.parts.length - 1, text, ...(logprobs.length > 0 && { logprobs }) },
    })
  }

  const annotate = (annotation: JsonObject): void => {
    const part = speech?.kind === 'message' ? speech.parts.findIndex(({ kind }) => kind === 'text') : -1
    if (!speech || part === -1) return
    speech.parts[part]?.annotations.push(annotation)
    facts.push({ type: 'delta', index: speech.index, delta: { kind: 'annotation', part, annotation } })
  }

  const closeSpeech = (status: ItemStatus): void => {
    if (speech) facts.push({ type: 'item_finished', index: speech.index, item: spokenItem(speech, status) })
    speech = undefined
  }

  const hear = (pieces: readonly CallPiece[]): void => {
    if (pieces.length === 0) return
    for (const { call, piece, isNew } of calls.take(pieces)) {
      if (isNew) finishCalls([...calls.whole].filter(other => other !== call))
      if (call.name === '' || call.finished) continue
      if (call.index === undefined) {
        closeSpeech('completed')
        call.index = startItem({ ...callItem(call, 'in_progress'), arguments: '' })
        if (call.arguments !== '') tellArguments(call.index, call.arguments)
      } else if (piece.arguments !== '') tellArguments(call.index, piece.arguments)
    }
  }

  const tellArguments = (index: number, text: string): void => {
    facts.push({ type: 'delta', index, delta: { kind: 'arguments', part: 0, text } })
  }

  const finishCalls = (some: Iterable<Call>): void => {
    for (const call of some) finishCall(call, 'completed')
  }

  const finishCall = (call: Call, status: ItemStatus): void => {
    if (call.index === undefined) return
    calls.finish(call)
    if (call.arguments === '' && status === 'completed') {
      call.arguments = '{}'
      tellArguments(call.index, '{}')
    }
    facts.push({ type: 'item_finished', index: call.index, item: callItem(call, status) })
  }

  const closeAll = (outcome: Outcome): void => {
    const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
    closeSpeech(status)
    // Only what was cut is incomplete: a call whose arguments are whole was written to its end.
    for (const call of calls.open) finishCall(call, isComplete(call) ? 'completed' : status)
    if (count === 0 && status === 'completed') facts.push({ type: 'item_finished', index: startItem(emptyMessage), item: emptyMessage })
  }

  const finish = (outcome: Outcome): void => {
    begin({})
    if (!ending) settle(outcome)
    ended = true
    const counted = countUsage(usage, count > 0)
    facts.push({ type: 'finished', outcome: ending ?? outcome, ...(counted && { usage: counted }) })
  }

  const takeChoice = (choice: JsonObject): void => {
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : choice
    for (const said of saidIn(delta)) speak(said, choice)
    for (const annotation of annotationsOf(delta)) annotate(annotation)
    hear(callsIn(delta))
    const reason = stringOf(choice.finish_reason)
    if (reason !== '') settle(outcomeOf(reason))
  }

  const settle = (outcome: Outcome): void => {
    const isNameless = calls.all.some(call => call.name === '' && call.arguments !== '')
    ending =
      isNameless && outcome.status !== 'failed'
        ? { status: 'failed', error: unreadable('The provider sent a tool call without a name.') }
        : outcome
    closeAll(ending)
  }

  const take = (frame: Frame): void => {
    const chunk = readFrame(frame)
    if (chunk === 'broken') finish(ending ?? broken)
    else if (chunk === 'done') finish(ending ?? unmarked(count > 0))
    else if (chunk !== 'nothing') takeChunk(chunk)
  }

  const takeChunk = (chunk: JsonObject): void => {
    begin(chunk)
    usage = usageIn(chunk) ?? usage
    if (ending) return
    const error = errorOf(chunk)
    const choice = firstChoice(chunk)
    if (error) finish({ status: 'failed', error })
    else if (choice) takeChoice(choice)
  }

  return {
    read(frames) {
      for (const frame of frames) if (!ended) take(frame)
      return drain()
    },
    end() {
      if (!ended) finish(ending ?? truncated)
      return drain()
    },
  }

  function drain(): readonly InferenceEvent[] {
    const told = facts
    facts = []
    return told
  }
}

const shells: Readonly<Record<Speech['kind'], Item>> = {
  reasoning: { type: 'reasoning', summary: [] },
  message: { type: 'message', role: 'assistant', content: [], status: 'in_progress' },
}

function spokenItem({ kind, parts }: Speech, status: ItemStatus): Item {
  if (kind === 'reasoning') return { type: 'reasoning', summary: [], content: parts.map(part => part.text) }
  return { type: 'message', role: 'assistant', content: parts.map(partOf), status }
}

function partOf({ kind, text, annotations, logprobs }: SpokenPart): Part {
  if (kind === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'text', text, ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }
}

const broken: Outcome = { status: 'failed', error: unreadable('The provider sent an event that is not valid JSON.') }
const truncated: Outcome = { status: 'failed', error: unreadable('The provider’s stream ended before the answer was finished.') }

/** The end mark without a reason: good enough where something was said. */
const unmarked = (answered: boolean): Outcome => (answered ? { status: 'completed' } : truncated)
