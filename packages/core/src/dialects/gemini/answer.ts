import type { Reading } from '../../protocol/dialect.ts'
import type { Delta, InferenceEvent } from '../../protocol/event.ts'
import type { FunctionCallItem, Item, ItemStatus, MessageItem } from '../../protocol/item.ts'
import type { Outcome } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { deriveCallId } from '../ids.ts'
import { stringOf } from '../json.ts'
import { isCounted, readUsage, usageNames } from '../usage.ts'
import { citationsOf, mergeSources, noSources } from './citations.ts'
import { type Growing, grow, startGrowing } from './partial-args.ts'
import { type Signed, writeState } from './reasoning-state.ts'
import {
  blocked,
  broken,
  dialect,
  errorOf,
  firstCandidate,
  type Head,
  headOf,
  isBlocked,
  keepUsage,
  logprobsOf,
  nameless,
  outcomeOf,
  partsOf,
} from './wire.ts'

// Pieces of an answer → facts. A whole answer is one piece, a stream is many. This language has parts and no items: an item
// begins where the kind of the parts changes. What closes an answer is the end of it, since a reason to end may come with
// every piece.

interface Speech {
  readonly kind: 'reasoning' | 'message'
  readonly index: number
  text: string
  readonly logprobs: JsonObject[]
  /** A message's last part was signed; it is told behind it, once it is clear that nothing else is said of the message. */
  signed: Signed | undefined
}

/** A call whose arguments come in pieces. It is told whole. */
interface Coming {
  readonly name: string
  readonly id: string
  signature: string
  readonly args: Growing
}

export interface Answer {
  /** Tells nothing any more. */
  readonly over: boolean
  take(piece: JsonObject): void
  /** `otherwise`: how it ends where the provider did not say. */
  finish(otherwise: (answered: boolean) => Outcome): void
  drain(): readonly InferenceEvent[]
}

export function followAnswer({ toolNames }: Reading = {}): Answer {
  let facts: InferenceEvent[] = []
  let head: Head | undefined
  let count = 0
  /** Something was said beside thoughts. */
  let answered = false
  let speech: Speech | undefined
  let coming: Coming | undefined
  let sources = noSources
  const usage: Record<string, Json | undefined> = Object.create(null)
  let reason = ''
  /** What makes the answer fail, however it goes on. */
  let fault: Outcome | undefined
  let refused = false
  let over = false
  const taken = new Set<string>()

  const begin = (piece: JsonObject): Head => {
    if (head) return head
    head = headOf(piece)
    facts.push({ type: 'started', ...head })
    return head
  }

  const startItem = (item: Item): number => {
    facts.push({ type: 'item_started', index: count, item })
    return count++
  }

  const tellItem = (item: Item): void => {
    facts.push({ type: 'item_finished', index: startItem(item), item })
  }

  const open = (kind: Speech['kind']): Speech => {
    if (speech?.kind === kind && !speech.signed) return speech
    settle()
    const opened: Speech = { kind, index: startItem(shells[kind]), text: '', logprobs: [], signed: undefined }
    speech = opened
    return opened
  }

  const think = (text: string, signature: string): void => {
    if (text === '' && signature === '') return
    const thought = open('reasoning')
    if (text !== '') tellText(thought, text)
    if (signature !== '') sign({ on: 'thought', signature, length: 0 })
  }

  const say = (text: string, signature: string, logprobs: readonly JsonObject[]): void => {
    const goesOn = speech?.kind === 'message' && !speech.signed
    const signed: Signed | undefined =
      signature === '' ? undefined : { on: goesOn || text === '' ? 'end' : 'text', signature, length: text.length }
    if (signed && !goesOn) sign(signed)
    if (text !== '') {
      tellText(open('message'), text, logprobs)
      answered = true
    }
    if (signed && goesOn && speech) speech.signed = signed
  }

  const tellText = (growing: Speech, text: string, logprobs = none): void => {
    growing.text += text
    for (const entry of logprobs) growing.logprobs.push(entry)
    const kind = growing.kind === 'message' ? 'text' : 'summary'
    const delta: Delta = logprobs.length > 0 ? { kind, part: 0, text, logprobs } : { kind, part: 0, text }
    facts.push({ type: 'delta', index: growing.index, delta })
  }

  /** In the thought directly before, or in one of its own. */
  const sign = (signed: Signed): void => {
    const encrypted_content = writeState(signed)
    if (speech?.kind === 'reasoning') closeSpeech('completed', encrypted_content)
    else {
      settle()
      tellItem({ type: 'reasoning', summary: [], encrypted_content })
    }
  }

  const closeSpeech = (status: ItemStatus, encrypted_content?: string): void => {
    if (!speech) return
    const closed = speech
    speech = undefined
    if (closed.kind === 'reasoning') {
      const summary = closed.text === '' ? [] : [closed.text]
      const item: Item = { type: 'reasoning', summary, ...(encrypted_content !== undefined && { encrypted_content }) }
      facts.push({ type: 'item_finished', index: closed.index, item })
    } else closeMessage(closed, status)
  }

  const closeMessage = ({ index, text, logprobs, signed }: Speech, status: ItemStatus): void => {
    const annotations = citationsOf(text, sources)
    sources = noSources
    for (const annotation of annotations) facts.push({ type: 'delta', index, delta: { kind: 'annotation', part: 0, annotation } })
    const extras = { ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }
    facts.push({
      type: 'item_finished',
      index,
      item: { type: 'message', role: 'assistant', content: [{ type: 'text', text, ...extras }], status },
    })
    if (signed) tellItem({ type: 'reasoning', summary: [], encrypted_content: writeState(signed) })
  }

  /** Something else begins. */
  const settle = (status: ItemStatus = 'completed'): void => {
    closeSpeech(status)
    if (coming) tellCall(coming)
  }

  const hear = (called: JsonObject, signature: string): void => {
    const name = stringOf(called.name)
    if (coming && name !== '' && name !== coming.name) tellCall(coming)
    if (!coming && name === '') {
      fault ??= nameless
      return
    }
    coming ??= { name, id: stringOf(called.id), signature: '', args: startGrowing(called.args) }
    if (coming.signature === '') coming.signature = signature
    grow(coming.args, called.partialArgs)
    if (called.willContinue !== true) tellCall(coming)
  }

  const tellCall = ({ name, id, signature, args }: Coming): void => {
    coming = undefined
    answered = true
    if (signature !== '') sign({ on: 'call', signature, length: 0 })
    closeSpeech('completed')
    const written = writeArguments(args)
    if (written === undefined) fault ??= broken
    const { id: answer, created_at } = head ?? noHead
    const call_id = id !== '' && !taken.has(id) ? id : deriveCallId(answer, created_at, taken.size, name, written ?? '', signature)
    taken.add(call_id)
    const call: FunctionCallItem = {
      type: 'function_call',
      call_id,
      name: toolNames?.get(name) ?? name,
      arguments: written ?? '{}',
      status: 'completed',
    }
    const index = startItem({ ...call, arguments: '', status: 'in_progress' })
    facts.push({ type: 'delta', index, delta: { kind: 'arguments', part: 0, text: call.arguments } })
    facts.push({ type: 'item_finished', index, item: call })
  }

  const takePart = (part: JsonObject, logprobs: readonly JsonObject[]): void => {
    const signature = stringOf(part.thoughtSignature)
    if (isObject(part.functionCall)) hear(part.functionCall, signature)
    else if (!isText(part)) {
      settle()
      tellItem({ type: 'native', dialect, body: part })
      answered = true
    } else if (part.thought === true) think(stringOf(part.text), signature)
    else say(stringOf(part.text), signature, logprobs)
  }

  const takeCandidate = (candidate: JsonObject): void => {
    sources = mergeSources(sources, candidate)
    let logprobs = logprobsOf(candidate)
    for (const part of partsOf(candidate)) {
      takePart(part, logprobs)
      // They are the chunk's, and its first text has them.
      if (speech?.kind === 'message') logprobs = none
    }
    reason = stringOf(candidate.finishReason) || reason
  }

  const finish = (outcome: (answered: boolean) => Outcome): void => {
    begin({})
    if (coming) tellCall(coming)
    const end = fault ?? (reason !== '' ? outcomeOf(reason, answered) : refused ? blocked : outcome(answered))
    closeSpeech(end.status === 'completed' ? 'completed' : 'incomplete')
    if (count === 0 && end.status === 'completed') tellItem(emptyMessage)
    const counted = readUsage(usage, usageNames.gemini)
    facts.push({ type: 'finished', outcome: end, ...(isCounted(counted, count > 0) && { usage: counted }) })
    over = true
  }

  return {
    get over() {
      return over
    },
    take(piece) {
      begin(piece)
      keepUsage(usage, piece)
      const error = errorOf(piece)
      if (error) {
        fault = { status: 'failed', error }
        finish(() => blocked)
        return
      }
      refused ||= isBlocked(piece)
      const candidate = firstCandidate(piece)
      if (candidate) takeCandidate(candidate)
    },
    finish,
    drain() {
      const told = facts
      facts = []
      return told
    },
  }
}

const none: readonly JsonObject[] = []
const noHead: Head = { id: '', model: '', created_at: 0 }

/** What stands in a part of text; a part with anything else is of another kind. */
const ofText: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'partMetadata'])

function isText(part: JsonObject): boolean {
  for (const field in part) if (!ofText.has(field)) return false
  return true
}

const shells: Readonly<Record<Speech['kind'], Item>> = {
  reasoning: { type: 'reasoning', summary: [] },
  message: { type: 'message', role: 'assistant', content: [], status: 'in_progress' },
}

/** What an answer without a word is: an empty message, never nothing. */
const emptyMessage: MessageItem = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' }

/** Nothing where they are nested too deep to be written. */
function writeArguments({ root }: Growing): string | undefined {
  try {
    return JSON.stringify(root)
  } catch {
    return undefined
  }
}
