import { imageMarkdown, imageType, imageUrlOf } from '../common/generated-image.ts'
import { addSent, type EventOf, jsonText, nothingSent, type SentText, sentText } from '../common/stream-encoder.ts'
import type { Delta } from '../protocol/event.ts'
import type { FunctionCallItem, Item, ReasoningItem } from '../protocol/item.ts'
import { entryOf, setEntry, smallMap } from '../protocol/small-map.ts'
import { innerDialect, type JsonObject } from '../protocol/wire.ts'
import { appendToBlock, type BlockOutput, blockDeltas, closeBlock, openBlock, writeBlock, writeDelta } from './block-writer.ts'
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

export function createItemWriter(item: Item, output: BlockOutput): ItemWriter {
  if (item.type === 'message') return messageWriter(output)
  if (item.type === 'reasoning') return reasoningWriter(output)
  return item.type === 'function_call' ? callWriter(item, output) : nativeWriter(output)
}

/** The unwritten rest of the text. Empty if the final text differs, because frames cannot be taken back. */
const unwritten = (text: string, written: SentText): string => (text.startsWith(sentText(written)) ? text.slice(written.sent) : '')

interface WrittenPart {
  readonly text: SentText
  annotations: number
}

function messageWriter(output: BlockOutput): ItemWriter {
  const parts = smallMap<number, WrittenPart>()
  let current = -1

  const partAt = (number: number): WrittenPart => {
    const known = entryOf(parts, number)
    if (known) return known
    const part: WrittenPart = { text: nothingSent(), annotations: 0 }
    setEntry(parts, number, part)
    return part
  }
  const openPart = (number: number): void => {
    if (current === number) return
    current = number
    openBlock(output, { type: 'text', text: '' }, blockDeltas.text)
  }
  const appendText = (number: number, text: string, event?: EventOf<'delta'>): void => {
    if (text === '') return
    openPart(number)
    addSent(partAt(number).text, text, event)
    appendToBlock(output, text)
  }
  const addAnnotation = (number: number, annotation: JsonObject): void => {
    const written = partAt(number)
    written.annotations += 1
    const citation = encodeCitation(annotation)
    const isClosed = current !== number && written.text.sent > 0
    if (!citation || isClosed) return
    openPart(number)
    writeDelta(output, { type: 'citations_delta', citation })
  }

  return {
    append(event) {
      const { delta } = event
      if (delta.kind === 'text' || delta.kind === 'refusal') appendText(delta.part, delta.text, event)
      else if (delta.kind === 'annotation') addAnnotation(delta.part, delta.annotation)
    },
    addNative(delta) {
      if (delta.type === 'citations_delta' && current !== -1) writeDelta(output, delta)
    },
    finish(item) {
      for (const [number, part] of item?.type === 'message' ? item.content.entries() : []) {
        const written = partAt(number)
        if (part.type === 'refusal') appendText(number, unwritten(part.refusal, written.text))
        else if (part.type === 'text') {
          appendText(number, unwritten(part.text, written.text))
          for (const annotation of part.annotations?.slice(written.annotations) ?? []) addAnnotation(number, annotation)
        } else if (part.type === 'native' && part.dialect === dialect) {
          writeBlock(output, part.body)
          current = -1
        }
      }
      closeBlock(output)
    },
  }
}

function reasoningWriter(output: BlockOutput): ItemWriter {
  const written = nothingSent()
  let isOpen = false
  let kind: Delta['kind'] | undefined
  let part = -1

  const open = (): void => {
    if (isOpen) return
    isOpen = true
    openBlock(output, { type: 'thinking', thinking: '', signature: '' }, blockDeltas.thinking)
  }
  const appendText = (text: string, event?: EventOf<'delta'>): void => {
    if (text === '') return
    open()
    addSent(written, text, event)
    appendToBlock(output, text)
  }
  const finish = (item: ReasoningItem): void => {
    const { encrypted_content: state, redacted } = item
    if (!redacted) appendText(unwritten(thinkingText(item), written))
    if (state === undefined || state === '') return
    if (redacted) writeBlock(output, redactedBlock(state))
    else {
      open()
      writeDelta(output, { type: 'signature_delta', signature: state })
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
      closeBlock(output)
    },
  }
}

function callWriter(started: FunctionCallItem, output: BlockOutput): ItemWriter {
  const written = nothingSent()
  let isOpen = false

  const isCustom = started.custom === true

  const open = (call: FunctionCallItem): void => {
    if (isOpen) return
    isOpen = true
    openBlock(output, toolUseBlock(call), blockDeltas.input)
    if (isCustom) appendToBlock(output, `{"${customInput}":"`)
  }
  const appendInput = (text: string, event?: EventOf<'delta'>): void => {
    if (text === '' || !isOpen) return
    addSent(written, text, event)
    appendToBlock(output, isCustom ? jsonText(text) : text)
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
        appendInput(unwritten(item.arguments, written))
      }
      if (isCustom && isOpen) appendToBlock(output, '"}')
      closeBlock(output)
    },
  }
}

/** Written when finished, because only then is the block complete. */
const nativeWriter = (output: BlockOutput): ItemWriter => ({
  append() {},
  finish(item) {
    if (item?.type !== 'native') return
    if (item.dialect === dialect) writeBlock(output, item.body)
    else writeImage(output, item)
  },
})

/** Writes an image as text, because response blocks cannot contain images. */
function writeImage(output: BlockOutput, item: Item): void {
  const url = imageUrlOf(item)
  if (url === undefined) return
  openBlock(output, { type: 'text', text: '' }, blockDeltas.text)
  appendToBlock(output, imageMarkdown(url))
  closeBlock(output)
}
