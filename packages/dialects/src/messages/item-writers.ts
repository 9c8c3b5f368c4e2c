import { imageMarkdown, imageType, imageUrlOf } from '../common/generated-image.ts'
import { type EventOf, jsonText, SentText } from '../common/stream-encoder.ts'
import type { Delta } from '../protocol/event.ts'
import type { FunctionCallItem, Item, ReasoningItem } from '../protocol/item.ts'
import { innerDialect, type JsonObject } from '../protocol/wire.ts'
import { type BlockWriter, blockDeltas } from './block-writer.ts'
import { customInput, encodeCitation, reasoningSeparator, redactedBlock, thinkingText, toolUseBlock } from './encode-response.ts'
import { dialect } from './wire.ts'

// Writes one item of a stream as content blocks.

export interface ItemWriter {
  append(event: EventOf<'delta'>): void
  /** Passes through a delta that only this dialect has. */
  addNative?(delta: JsonObject): void
  /** Writes what no delta contained. Called without an item if the stream ended before the item did. */
  finish(item?: Item): void
}

/** Whether this dialect can express the item. */
export const isEncodable = (item: Item): boolean =>
  item.type !== 'function_call_output' && (item.type !== 'native' || item.dialect === dialect || isImage(item))

/** An image from another dialect's provider; its data comes at the end. */
const isImage = (item: Item): boolean => item.type === 'native' && item.dialect === innerDialect && item.body.type === imageType

export function createItemWriter(item: Item, blocks: BlockWriter): ItemWriter {
  if (item.type === 'message') return messageWriter(blocks)
  if (item.type === 'reasoning') return reasoningWriter(blocks)
  return item.type === 'function_call' ? callWriter(item, blocks) : nativeWriter(blocks)
}

interface WrittenPart {
  readonly text: SentText
  annotations: number
}

function messageWriter(blocks: BlockWriter): ItemWriter {
  const parts = new Map<number, WrittenPart>()
  let current = -1

  const partAt = (number: number): WrittenPart => {
    const known = parts.get(number)
    if (known) return known
    const part: WrittenPart = { text: new SentText(), annotations: 0 }
    parts.set(number, part)
    return part
  }
  const openPart = (number: number): void => {
    if (current === number) return
    current = number
    blocks.open({ type: 'text', text: '' }, blockDeltas.text)
  }
  const appendText = (number: number, text: string, event?: EventOf<'delta'>): void => {
    if (text === '') return
    openPart(number)
    partAt(number).text.add(text, event)
    blocks.append(text)
  }
  const addAnnotation = (number: number, annotation: JsonObject): void => {
    const written = partAt(number)
    written.annotations += 1
    const citation = encodeCitation(annotation)
    const isClosed = current !== number && written.text.sent > 0
    if (!citation || isClosed) return
    openPart(number)
    blocks.writeDelta({ type: 'citations_delta', citation })
  }

  return {
    append(event) {
      const { delta } = event
      if (delta.kind === 'text' || delta.kind === 'refusal') appendText(delta.part, delta.text, event)
      else if (delta.kind === 'annotation') addAnnotation(delta.part, delta.annotation)
    },
    addNative(delta) {
      if (delta.type === 'citations_delta' && current !== -1) blocks.writeDelta(delta)
    },
    finish(item) {
      for (const [number, part] of item?.type === 'message' ? item.content.entries() : []) {
        const written = partAt(number)
        if (part.type === 'refusal') appendText(number, written.text.restOf(part.refusal))
        else if (part.type === 'text') {
          appendText(number, written.text.restOf(part.text))
          for (const annotation of part.annotations?.slice(written.annotations) ?? []) addAnnotation(number, annotation)
        } else if (part.type === 'native' && part.dialect === dialect) {
          blocks.write(part.body)
          current = -1
        }
      }
      blocks.close()
    },
  }
}

function reasoningWriter(blocks: BlockWriter): ItemWriter {
  const written = new SentText()
  let isOpen = false
  let kind: Delta['kind'] | undefined
  let part = -1

  const open = (): void => {
    if (isOpen) return
    isOpen = true
    blocks.open({ type: 'thinking', thinking: '', signature: '' }, blockDeltas.thinking)
  }
  const appendText = (text: string, event?: EventOf<'delta'>): void => {
    if (text === '') return
    open()
    written.add(text, event)
    blocks.append(text)
  }
  const finish = (item: ReasoningItem): void => {
    const { encrypted_content: state, redacted } = item
    if (!redacted) appendText(written.restOf(thinkingText(item)))
    if (state === undefined || state === '') return
    if (redacted) blocks.write(redactedBlock(state))
    else {
      open()
      blocks.writeDelta({ type: 'signature_delta', signature: state })
    }
  }

  return {
    append(event) {
      const { delta } = event
      if ((delta.kind !== 'summary' && delta.kind !== 'reasoning') || delta.text === '') return
      const isNewPart = delta.part !== part || delta.kind !== kind
      kind = delta.kind
      part = delta.part
      if (isNewPart && written.sent > 0) appendText(reasoningSeparator + delta.text)
      else appendText(delta.text, event)
    },
    finish(item) {
      if (item?.type === 'reasoning') finish(item)
      blocks.close()
    },
  }
}

function callWriter(started: FunctionCallItem, blocks: BlockWriter): ItemWriter {
  const written = new SentText()
  let isOpen = false

  const isCustom = started.custom === true

  const open = (call: FunctionCallItem): void => {
    if (isOpen) return
    isOpen = true
    blocks.open(toolUseBlock(call), blockDeltas.input)
    if (isCustom) blocks.append(`{"${customInput}":"`)
  }
  const appendInput = (text: string, event?: EventOf<'delta'>): void => {
    if (text === '' || !isOpen) return
    written.add(text, event)
    blocks.append(isCustom ? jsonText(text) : text)
  }

  // A block cannot start without the name and id of its call, so it is written when the item is finished.
  if (started.name !== '' && started.call_id !== '') open(started)
  return {
    append(event) {
      if (event.delta.kind === 'arguments') appendInput(event.delta.text, event)
    },
    finish(item) {
      if (item?.type === 'function_call') {
        open(item)
        appendInput(written.restOf(item.arguments))
      }
      if (isCustom && isOpen) blocks.append('"}')
      blocks.close()
    },
  }
}

/** Written when finished, because only then is the block complete. */
const nativeWriter = (blocks: BlockWriter): ItemWriter => ({
  append() {},
  finish(item) {
    if (item?.type !== 'native') return
    if (item.dialect === dialect) blocks.write(item.body)
    else writeImage(blocks, item)
  },
})

/** Writes an image as text, because response blocks cannot contain images. */
function writeImage(blocks: BlockWriter, item: Item): void {
  const url = imageUrlOf(item)
  if (url === undefined) return
  blocks.open({ type: 'text', text: '' }, blockDeltas.text)
  blocks.append(imageMarkdown(url))
  blocks.close()
}
