import type { Delta } from '../../protocol/event.ts'
import type { FunctionCallItem, Item, ReasoningItem } from '../../protocol/item.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { betweenThoughts, callBlock, citationOf, redactedBlock, thoughtOf } from './encode-response.ts'
import { type BlockWriter, growths } from './block-writer.ts'
import { dialect } from './wire.ts'

// How an item is told, block by block, once it is its turn.

export interface Telling {
  grow(delta: Delta): void
  /** What only this language says of an item that grows. */
  add?(delta: JsonObject): void
  /** Tells what no delta has told yet. Without an item, what was told is all there is. */
  finish(item?: Item): void
}

/** This language has words for it. */
export const isSpoken = (item: Item): boolean =>
  item.type !== 'function_call_output' && (item.type !== 'native' || item.dialect === dialect)

export function tellingOf(item: Item, blocks: BlockWriter): Telling {
  if (item.type === 'message') return tellMessage(blocks)
  if (item.type === 'reasoning') return tellThoughts(blocks)
  return item.type === 'function_call' ? tellCall(item, blocks) : tellWhole(blocks)
}

/** What is left to tell of a text. If its last wording is another one, what was told has to stand. */
const restOf = (text: string, told: string): string => (text.startsWith(told) ? text.slice(told.length) : '')

interface ToldPart {
  text: string
  annotations: number
}

function tellMessage(blocks: BlockWriter): Telling {
  const parts = new Map<number, ToldPart>()
  let current = -1

  const toldOf = (number: number): ToldPart => {
    const known = parts.get(number)
    if (known) return known
    const part = { text: '', annotations: 0 }
    parts.set(number, part)
    return part
  }
  const enter = (number: number): void => {
    if (current === number) return
    current = number
    blocks.open({ type: 'text', text: '' }, growths.text)
  }
  const say = (number: number, text: string): void => {
    if (text === '') return
    enter(number)
    toldOf(number).text += text
    blocks.grow(text)
  }
  const cite = (number: number, annotation: JsonObject): void => {
    const told = toldOf(number)
    told.annotations += 1
    const citation = citationOf(annotation)
    const isPast = current !== number && told.text !== ''
    if (!citation || isPast) return
    enter(number)
    blocks.add({ type: 'citations_delta', citation })
  }

  return {
    grow(delta) {
      if (delta.kind === 'text' || delta.kind === 'refusal') say(delta.part, delta.text)
      else if (delta.kind === 'annotation') cite(delta.part, delta.annotation)
    },
    add(delta) {
      if (delta.type === 'citations_delta' && current !== -1) blocks.add(delta)
    },
    finish(item) {
      for (const [number, part] of item?.type === 'message' ? item.content.entries() : []) {
        const told = toldOf(number)
        if (part.type === 'refusal') say(number, restOf(part.refusal, told.text))
        else if (part.type === 'text') {
          say(number, restOf(part.text, told.text))
          for (const annotation of part.annotations?.slice(told.annotations) ?? []) cite(number, annotation)
        } else if (part.type === 'native' && part.dialect === dialect) {
          blocks.whole(part.body)
          current = -1
        }
      }
      blocks.close()
    },
  }
}

function tellThoughts(blocks: BlockWriter): Telling {
  let told = ''
  let isOpen = false
  let kind: Delta['kind'] | undefined
  let part = -1

  const open = (): void => {
    if (isOpen) return
    isOpen = true
    blocks.open({ type: 'thinking', thinking: '', signature: '' }, growths.thinking)
  }
  const think = (text: string): void => {
    if (text === '') return
    open()
    told += text
    blocks.grow(text)
  }
  const end = (item: ReasoningItem): void => {
    const { encrypted_content: state, redacted } = item
    if (!redacted) think(restOf(thoughtOf(item), told))
    if (state === undefined || state === '') return
    if (redacted) blocks.whole(redactedBlock(state))
    else {
      open()
      blocks.add({ type: 'signature_delta', signature: state })
    }
  }

  return {
    grow(delta) {
      if ((delta.kind !== 'summary' && delta.kind !== 'reasoning') || delta.text === '') return
      const isNew = delta.part !== part || delta.kind !== kind
      kind = delta.kind
      part = delta.part
      think(isNew && told !== '' ? betweenThoughts + delta.text : delta.text)
    },
    finish(item) {
      if (item?.type === 'reasoning') end(item)
      blocks.close()
    },
  }
}

function tellCall(announced: FunctionCallItem, blocks: BlockWriter): Telling {
  let told = ''
  let isOpen = false

  const open = (call: FunctionCallItem): void => {
    if (isOpen) return
    isOpen = true
    blocks.open(callBlock(call), growths.input)
  }
  const write = (text: string): void => {
    if (text === '' || !isOpen) return
    told += text
    blocks.grow(text)
  }

  // A call without its name or id cannot be announced; its end says them.
  if (announced.name !== '' && announced.call_id !== '') open(announced)
  return {
    grow(delta) {
      if (delta.kind === 'arguments') write(delta.text)
    },
    finish(item) {
      if (item?.type === 'function_call') {
        open(item)
        write(restOf(item.arguments, told))
      }
      blocks.close()
    },
  }
}

/** Whole at its end, since only then it is known whole. */
const tellWhole = (blocks: BlockWriter): Telling => ({
  grow() {},
  finish(item) {
    if (item?.type === 'native') blocks.whole(item.body)
  },
})
