import type { Reading } from '../../protocol/dialect.ts'
import type { Delta, InferenceEvent } from '../../protocol/event.ts'
import type { FunctionCallItem, Item, ItemStatus, MessageItem, Part } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { Outcome } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { unreadable } from '../failure.ts'
import { deriveCallId } from '../ids.ts'
import { objects, stringOf } from '../json.ts'
import { type Call, type Calls, callItem, followCalls, isComplete, type TakenPiece } from './calls.ts'
import { gatherState } from './state.ts'
import {
  annotationsOf,
  callsIn,
  countUsage,
  dialect,
  errorOf,
  firstChoice,
  headOf,
  logprobsOf,
  messageFields,
  outcomeOf,
  plainText,
  type Said,
  saidIn,
  usageIn,
  without,
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

/** One answer, as far as it has come. */
export interface Answer {
  take(chunk: JsonObject): void
  /** The last word on it; what was said before stands. */
  finish(outcome: Outcome): void
  /** Whether anything of the answer has been told. */
  begun(): boolean
  ended(): boolean
  drain(): readonly InferenceEvent[]
}

export function followAnswer({ toolNames }: Reading = {}): Answer {
  let facts: InferenceEvent[] = []
  let head: ReturnType<typeof headOf> | undefined
  let speech: Speech | undefined
  let count = 0
  let usage: Json | undefined
  /** The last chunk that told something of the whole answer. */
  let last: JsonObject = {}
  /** Set by a finish reason: all that may still come is usage. */
  let ending: Outcome | undefined
  let ended = false
  const calls: Calls = followCalls((place, name) => deriveCallId(head?.id ?? '', head?.created_at ?? 0, place, name))
  const state = gatherState()

  const begin = (chunk: JsonObject): void => {
    if (head) return
    head = headOf(chunk)
    facts.push(remember<InferenceEvent>({ type: 'started', ...head }, { dialect, body: chunk }))
  }

  const startItem = (item: Item): number => {
    facts.push({ type: 'item_started', index: count, item })
    return count++
  }

  const speak = (kind: Said['kind'], text: string, logprobs: readonly JsonObject[]): void => {
    const itemKind = kind === 'reasoning' ? 'reasoning' : 'message'
    if (speech?.kind !== itemKind) {
      closeSpeech('completed')
      finishOthers()
      if (itemKind === 'message') tellState()
      speech = { kind: itemKind, index: startItem(shells[itemKind]), parts: [] }
    }
    const last = speech.parts.at(-1)
    const part = last?.kind === kind ? last : { kind, text: '', annotations: [], logprobs: [] }
    if (part !== last) speech.parts.push(part)
    part.text += text
    for (const entry of logprobs) part.logprobs.push(entry)
    const place = speech.parts.length - 1
    const delta: Delta = logprobs.length > 0 ? { kind, part: place, text, logprobs } : { kind, part: place, text }
    facts.push({ type: 'delta', index: speech.index, delta })
  }

  const annotate = (annotation: JsonObject): void => {
    const part = speech?.kind === 'message' ? speech.parts.findIndex(({ kind }) => kind === 'text') : -1
    if (!speech || part === -1) return
    speech.parts[part]?.annotations.push(annotation)
    facts.push({ type: 'delta', index: speech.index, delta: { kind: 'annotation', part, annotation } })
  }

  const closeSpeech = (status: ItemStatus): void => {
    if (speech) facts.push({ type: 'item_finished', index: speech.index, item: spokenItem(speech, status, state.take) })
    speech = undefined
  }

  /** State that came without a thought in words, or after it, is a thought of its own. */
  const tellState = (): void => {
    const encrypted_content = state.take()
    if (encrypted_content === undefined) return
    const index = startItem(shells.reasoning)
    facts.push({ type: 'item_finished', index, item: { type: 'reasoning', summary: [], encrypted_content } })
  }

  const sign = (call: Call): void => {
    if (call.signature !== '') state.sign(call.call_id, call.signature)
    call.signature = ''
  }

  const hear = ({ call, piece, isNew }: TakenPiece): void => {
    if (isNew) finishOthers(call)
    if (call.name === '') return
    sign(call)
    if (call.finished) return
    if (call.index === undefined) {
      closeSpeech('completed')
      tellState()
      call.index = startItem({ ...itemOf(call, 'in_progress'), arguments: '' })
      if (call.arguments !== '') tellArguments(call.index, call.arguments)
    } else if (piece.arguments !== '') tellArguments(call.index, piece.arguments)
  }

  const itemOf = (call: Call, status: ItemStatus): FunctionCallItem => {
    const item = callItem(call, status)
    return { ...item, name: toolNames?.get(item.name) ?? item.name }
  }

  const tellArguments = (index: number, text: string): void => {
    facts.push({ type: 'delta', index, delta: { kind: 'arguments', part: 0, text } })
  }

  /** Those whose arguments are whole, but for `call`. Each is finished once and then gone from the set, so that all of it is linear. */
  const finishOthers = (call?: Call): void => {
    for (const other of calls.whole) if (other !== call) finishCall(other, 'completed')
  }

  const finishCall = (call: Call, status: ItemStatus): void => {
    if (call.index === undefined) return
    calls.finish(call)
    if (call.arguments === '' && status === 'completed') {
      call.arguments = '{}'
      tellArguments(call.index, '{}')
    }
    facts.push({ type: 'item_finished', index: call.index, item: itemOf(call, status) })
  }

  const closeAll = (outcome: Outcome): void => {
    const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
    closeSpeech(status)
    // Only what was cut is incomplete: a call whose arguments are whole was written to its end.
    for (const call of calls.open) finishCall(call, isComplete(call) ? 'completed' : status)
    tellState()
    if (count === 0 && status === 'completed') facts.push({ type: 'item_finished', index: startItem(emptyMessage), item: emptyMessage })
  }

  const finish = (outcome: Outcome): void => {
    begin({})
    if (!ending) settle(outcome)
    ended = true
    const counted = countUsage(usage, count > 0)
    const finished: InferenceEvent = { type: 'finished', outcome: ending ?? outcome, ...(counted && { usage: counted }) }
    facts.push(remember(finished, { dialect, body: last }))
  }

  const takeChoice = (choice: JsonObject): void => {
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : choice
    if (delta.reasoning_details) state.hear(objects(delta.reasoning_details))
    let logprobs = choice.logprobs ? logprobsOf(choice) : none
    const plain = plainText(delta)
    if (plain !== undefined) speak('text', plain, logprobs)
    else
      for (const { kind, text } of saidIn(delta)) {
        speak(kind, text, kind === 'text' ? logprobs : none)
        if (kind === 'text') logprobs = none
      }
    for (const annotation of annotationsOf(delta)) annotate(annotation)
    calls.take(callsIn(delta), hear)
    if (delta === choice.delta) carry(delta)
    const reason = stringOf(choice.finish_reason)
    if (reason !== '') settle(outcomeOf(reason))
  }

  /** What we do not read of a piece: sound, pictures. A caller of the same language gets it as it is. Bare numbers and words are a host's own notes. */
  const carry = (delta: JsonObject): void => {
    for (const field in delta) {
      if (messageFields.has(field) || typeof delta[field] !== 'object' || delta[field] === null) continue
      facts.push({ type: 'native', dialect, name: 'delta', body: without(delta, messageFields), preamble: false })
      return
    }
  }

  const settle = (outcome: Outcome): void => {
    const isNameless = calls.all.some(call => call.name === '' && call.arguments !== '')
    ending =
      isNameless && outcome.status !== 'failed'
        ? { status: 'failed', error: unreadable('The provider sent a tool call without a name.') }
        : outcome
    closeAll(ending)
  }

  const take = (chunk: JsonObject): void => {
    begin(chunk)
    const choice = firstChoice(chunk)
    const told = usageIn(chunk, choice)
    usage = told ?? usage
    if (told) last = chunk
    if (ending) return
    const error = errorOf(chunk)
    if (choice?.finish_reason) last = chunk
    if (error) finish({ status: 'failed', error })
    else if (choice) takeChoice(choice)
  }

  return {
    take,
    finish,
    begun: () => count > 0,
    ended: () => ended,
    drain() {
      const told = facts
      facts = []
      return told
    },
  }
}

const shells: Readonly<Record<Speech['kind'], Item>> = {
  reasoning: { type: 'reasoning', summary: [] },
  message: { type: 'message', role: 'assistant', content: [], status: 'in_progress' },
}

function spokenItem({ kind, parts }: Speech, status: ItemStatus, state: () => string | undefined): Item {
  if (kind === 'reasoning') {
    const encrypted_content = state()
    return {
      type: 'reasoning',
      summary: [],
      content: parts.map(part => part.text),
      ...(encrypted_content !== undefined && { encrypted_content }),
    }
  }
  return { type: 'message', role: 'assistant', content: parts.map(partOf), status }
}

function partOf({ kind, text, annotations, logprobs }: SpokenPart): Part {
  if (kind === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'text', text, ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }
}

const none: readonly JsonObject[] = []

/** What an answer without a word is: an empty message, never nothing. */
const emptyMessage: MessageItem = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' }
