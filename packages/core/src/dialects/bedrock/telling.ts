import type { Reading } from '../../protocol/dialect.ts'
import type { InferenceEvent } from '../../protocol/event.ts'
import type { Item, ItemStatus, MessageItem } from '../../protocol/item.ts'
import type { Outcome } from '../../protocol/response.ts'
import type { Json } from '../../protocol/wire.ts'
import { deriveCallId } from '../ids.ts'
import { countUsage, nameless, writeState } from './wire.ts'

// Blocks of content → facts. A whole answer is told block by block, a stream piece by piece; what becomes of them is decided
// here once. Texts that follow each other are one message, each thought and each call is an item of its own.

/** An item that is being told. */
type Open = Message | Thinking | Calling

interface Message {
  readonly kind: 'message'
  readonly index: number
  /** Told as the arguments of a tool. */
  readonly isAnswer: boolean
  text: string
  stopped: boolean
}
interface Thinking {
  readonly kind: 'thought'
  readonly index: number
  stopped: boolean
  text: string
  signature: string
  redacted: string
}
interface Calling {
  readonly kind: 'call'
  readonly index: number
  /** What the provider calls it. */
  readonly given: string
  readonly call_id: string
  readonly name: string
  arguments: string
  stopped: boolean
}

/** Blocks go by their place in the content. */
export interface Telling {
  text(text: string): void
  call(place: number, id: string, name: string): void
  /** A piece of the arguments. */
  input(place: number, piece: string): void
  think(place: number, text: string): void
  sign(place: number, signature: string): void
  hide(place: number, redacted: string): void
  stop(place: number): void
  /** However the answer ends, it is none. */
  spoil(outcome: Outcome): void
  finish(outcome: Outcome, usage: Json | undefined): void
  drain(): readonly InferenceEvent[]
}

export function startTelling({ toolNames, answerTool }: Reading = {}): Telling {
  // Neither a stream nor a body of this language names the answer, its model or its time.
  let facts: InferenceEvent[] = [{ type: 'started', id: '', model: '', created_at: 0 }]
  let count = 0
  let speech: Message | undefined
  /** Thoughts, calls, and the call whose arguments are the answer. */
  const blocks = new Map<number, Open>()
  /** Places of those that were stopped: all others stay open, and need not be looked at when something else begins. */
  const stopped = new Set<number>()
  const taken = new Set<string>()
  let fault: Outcome | undefined

  const start = (item: Item): number => {
    facts.push({ type: 'item_started', index: count, item })
    return count++
  }

  const close = (open: Open, status: ItemStatus): void => {
    if (open.kind === 'call' && open.arguments === '' && status === 'completed') grow(open, '{}')
    if (open.kind === 'message' && open.isAnswer && open.text === '' && status === 'completed') say(open, '{}')
    facts.push({ type: 'item_finished', index: open.index, item: itemOf(open, status) })
  }

  const grow = (call: Calling, piece: string): void => {
    call.arguments += piece
    facts.push({ type: 'delta', index: call.index, delta: { kind: 'arguments', part: 0, text: piece } })
  }

  const say = (message: Message, text: string): void => {
    message.text += text
    facts.push({ type: 'delta', index: message.index, delta: { kind: 'text', part: 0, text } })
  }

  const startMessage = (isAnswer: boolean): Message => {
    settle()
    return { kind: 'message', index: start(emptyShell), isAnswer, text: '', stopped: false }
  }

  /** Something else begins: what was said before it is complete. */
  const settle = (): void => {
    if (speech) close(speech, 'completed')
    speech = undefined
    for (const place of stopped) drop(place)
  }

  const drop = (place: number): void => {
    const open = blocks.get(place)
    if (open) close(open, 'completed')
    blocks.delete(place)
    stopped.delete(place)
  }

  /** The thought at this place; one that is hidden and one in words are two. */
  const thoughtAt = (place: number, hidden: boolean): Thinking => {
    const known = blocks.get(place)
    if (known?.kind === 'thought' && !known.stopped && (hidden ? known.text + known.signature : known.redacted) === '') return known
    drop(place)
    settle()
    const index = start({ type: 'reasoning', summary: [] })
    const thought: Thinking = { kind: 'thought', index, stopped: false, text: '', signature: '', redacted: '' }
    blocks.set(place, thought)
    return thought
  }

  const startCall = (id: string, name: string): Calling => {
    settle()
    const call_id = id !== '' && !taken.has(id) ? id : deriveCallId(id, name, count)
    taken.add(call_id)
    const known = { call_id, name: toolNames?.get(name) ?? name, arguments: '' }
    const index = start({ type: 'function_call', ...known, status: 'in_progress' })
    return { kind: 'call', index, given: id, ...known, stopped: false }
  }

  return {
    text(text) {
      if (text === '') return
      speech ??= startMessage(false)
      say(speech, text)
    },
    call(place, id, name) {
      if (name === '') {
        fault = nameless
        return
      }
      const known = blocks.get(place)
      // Told twice.
      if (known?.kind === 'call' && known.given === id && id !== '') return
      drop(place)
      blocks.set(place, name === answerTool ? startMessage(true) : startCall(id, name))
    },
    input(place, piece) {
      if (piece === '') return
      const open = blocks.get(place)
      if (open?.kind === 'call') grow(open, piece)
      else if (open?.kind === 'message') say(open, piece)
      else fault = nameless
    },
    think(place, text) {
      if (text === '') return
      const thought = thoughtAt(place, false)
      thought.text += text
      facts.push({ type: 'delta', index: thought.index, delta: { kind: 'summary', part: 0, text } })
    },
    sign(place, signature) {
      if (signature !== '') thoughtAt(place, false).signature += signature
    },
    hide(place, redacted) {
      if (redacted !== '') thoughtAt(place, true).redacted += redacted
    },
    stop(place) {
      // What the cap cut off is stopped as well: whether it is whole shows when the answer goes on, or ends.
      const open = blocks.get(place)
      if (!open) return
      open.stopped = true
      stopped.add(place)
    },
    spoil(outcome) {
      fault = outcome
    },
    finish(said, usage) {
      const outcome = fault && said.status !== 'failed' ? fault : said
      const status = outcome.status === 'completed' ? 'completed' : 'incomplete'
      if (speech) close(speech, status)
      for (const open of blocks.values()) close(open, isWhole(open) ? 'completed' : status)
      if (count === 0 && status === 'completed') facts.push({ type: 'item_finished', index: start(emptyShell), item: emptyMessage })
      const counted = countUsage(usage, count > 0)
      facts.push({ type: 'finished', outcome, ...(counted && { usage: counted }) })
    },
    drain() {
      const told = facts
      facts = []
      return told
    },
  }
}

const emptyShell: MessageItem = { type: 'message', role: 'assistant', content: [], status: 'in_progress' }
/** What an answer without a word is: an empty message, never nothing. */
const emptyMessage: MessageItem = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' }

/** Whether a call was written to its end, though the answer was not. */
function isWhole(open: Open): boolean {
  if (open.kind !== 'call' || !open.stopped) return false
  try {
    JSON.parse(open.arguments)
    return true
  } catch {
    return false
  }
}

function itemOf(open: Open, status: ItemStatus): Item {
  if (open.kind === 'message') return { type: 'message', role: 'assistant', content: [{ type: 'text', text: open.text }], status }
  if (open.kind === 'call') {
    const { call_id, name, arguments: written } = open
    return { type: 'function_call', call_id, name, arguments: written, status }
  }
  const state = writeState(open)
  return {
    type: 'reasoning',
    summary: open.text === '' ? [] : [open.text],
    ...(state !== undefined && { encrypted_content: state }),
    ...(open.redacted !== '' && { redacted: true }),
  }
}
