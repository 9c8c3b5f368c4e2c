import { copySlice } from '@signalbox/dialects/common'
import type { Delta, InferenceEvent, InferenceResponse, Item, Part } from '@signalbox/dialects/protocol'
import type { EventBatch } from '../../upstream/event-batches.ts'

// Cuts off responses of providers that ignore `max_output_tokens`, so that the cost stays bounded.

/** Upper bound of the average characters per token in a plausible response. The usual average is four. */
const maxCharactersPerToken = 16
const slack = 1.05
const fewCharacters = 1_024

export interface CutEvents {
  /** Called once, when the response is cut. */
  readonly onCut: () => void
  /** Finishes the items that are still open in the decoder with what it has read so far, and returns them. */
  readonly close: () => EventBatch
}

/** What was sent of one part of an open item. Lengths only, since the decoder keeps the text. */
interface SentPart {
  characters: number
  annotations: number
  logprobs: number
}

interface LatestPart {
  readonly index: number
  readonly kind: Delta['kind']
  readonly part: number
  readonly sent: SentPart
}

type TextDelta = Exclude<Delta, { readonly kind: 'annotation' }>
type TextEvent = Extract<InferenceEvent, { type: 'delta' }> & { readonly delta: TextDelta }

/**
 * Cuts a response whose text exceeds what its cap allows. Reasoning is not counted, since not every provider's cap includes it. A cut stream
 * has no usage, because it is unknown.
 */
export class OutputCutter {
  readonly maxCharacters: number
  readonly #events: CutEvents
  /** By item, then by kind and part. Undefined until an item starts. */
  #open: Map<number, Map<string, SentPart>> | undefined
  /** The part of the latest delta. */
  #latest: LatestPart | undefined
  #characters = 0

  constructor(cap: number, events: CutEvents) {
    this.maxCharacters = Math.ceil(cap * slack * maxCharactersPerToken) + fewCharacters
    this.#events = events
  }

  /** Returns the batch unchanged until the text exceeds what the cap allows; then ends the response there as incomplete. */
  cut(batch: EventBatch): EventBatch {
    for (let index = 0; index < batch.length; index += 1) {
      const event = batch[index] as InferenceEvent
      if (!this.#isOneTooMany(event)) continue
      this.#events.onCut()
      return [...batch.slice(0, index), ...this.#shortened(event), ...this.#ending(batch.slice(index))]
    }
    return batch
  }

  /** Whether the text of a whole response exceeds what the cap allows. */
  isTooLong({ output }: InferenceResponse): boolean {
    return output.reduce((sum, item) => sum + charactersOfItem(item), 0) > this.maxCharacters
  }

  #isOneTooMany(event: InferenceEvent): event is TextEvent {
    if (event.type === 'item_started') {
      this.#latest = undefined
      this.#open ??= new Map()
      this.#open.set(event.index, new Map())
    } else if (event.type === 'item_finished') {
      this.#latest = undefined
      this.#open?.delete(event.index)
    } else if (event.type === 'delta') {
      const { delta } = event
      if (delta.kind === 'text' || delta.kind === 'refusal' || delta.kind === 'arguments') {
        this.#characters += delta.text.length
        if (this.#characters > this.maxCharacters) return true
      }
      this.#notePart(event.index, delta)
    }
    return false
  }

  /** Counts a delta to its part, which becomes the latest. Deltas of items that are not open are not counted. */
  #notePart(index: number, delta: Delta): void {
    const { kind, part } = delta
    let latest = this.#latest
    if (latest?.index !== index || latest.kind !== kind || latest.part !== part) {
      const parts = this.#open?.get(index)
      if (parts === undefined) return
      const key = partKey(kind, part)
      const sent = parts.get(key) ?? { characters: 0, annotations: 0, logprobs: 0 }
      parts.set(key, sent)
      latest = { index, kind, part, sent }
      this.#latest = latest
    }
    const { sent } = latest
    if (delta.kind === 'annotation') sent.annotations += 1
    else {
      sent.characters += delta.text.length
      sent.logprobs += delta.logprobs?.length ?? 0
    }
  }

  /** The first event past the limit, shortened to fit. */
  #shortened({ index, delta: { kind, part, text } }: TextEvent): EventBatch {
    const delta: Delta = { kind, part, text: wellFormed(text.slice(0, text.length - (this.#characters - this.maxCharacters))) }
    if (delta.text === '') return []
    this.#notePart(index, delta)
    return [{ type: 'delta', index, delta }]
  }

  #ending(rest: EventBatch): EventBatch {
    const ends: InferenceEvent[] = []
    for (const event of [...rest, ...this.#events.close()]) {
      if (event.type !== 'item_finished' || !this.#open) continue
      const parts = this.#open.get(event.index)
      if (parts === undefined) continue
      this.#open.delete(event.index)
      ends.push({ type: 'item_finished', index: event.index, item: soFar(event.item, parts) })
    }
    return [...ends, { type: 'finished', outcome: { status: 'incomplete', reason: 'max_output_tokens' } }]
  }
}

const partKey = (kind: Delta['kind'], part: number): string => `${kind === 'annotation' ? 'text' : kind}:${part}`

/** Removes half of a surrogate pair at the end. */
const wellFormed = (text: string): string => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text)

/** An item, reduced to what was sent of it. It may be kept for later requests, unlike the text that it was cut from. */
function soFar(item: Item, sent: ReadonlyMap<string, SentPart>): Item {
  const sentOf = (kind: Delta['kind'], texts: readonly string[] = []): readonly string[] =>
    texts.flatMap((text, part) => {
      const characters = sent.get(partKey(kind, part))?.characters
      return characters === undefined ? [] : [copySlice(text, characters)]
    })
  if (item.type === 'message')
    return { ...item, content: item.content.flatMap((part, index) => partSoFar(part, index, sent)), status: 'incomplete' }
  if (item.type === 'function_call') return { ...item, arguments: sentOf('arguments', [item.arguments]).join(''), status: 'incomplete' }
  if (item.type !== 'reasoning') return item
  const content = sentOf('reasoning', item.content)
  const { content: _, ...rest } = item
  return { ...rest, summary: sentOf('summary', item.summary), content: content.length > 0 ? content : undefined }
}

function partSoFar(part: Part, at: number, sent: ReadonlyMap<string, SentPart>): readonly Part[] {
  if (part.type === 'refusal') {
    const characters = sent.get(partKey('refusal', at))?.characters
    return characters === undefined ? [] : [{ type: 'refusal', refusal: copySlice(part.refusal, characters) }]
  }
  const length = part.type === 'text' ? sent.get(partKey('text', at)) : undefined
  if (part.type !== 'text' || length === undefined) return []
  const annotations = part.annotations?.slice(0, length.annotations) ?? []
  const logprobs = part.logprobs?.slice(0, length.logprobs) ?? []
  return [
    {
      type: 'text',
      text: copySlice(part.text, length.characters),
      annotations: annotations.length > 0 ? annotations : undefined,
      logprobs: logprobs.length > 0 ? logprobs : undefined,
    },
  ]
}

function charactersOfItem(item: Item): number {
  if (item.type === 'function_call') return item.arguments.length
  if (item.type !== 'message') return 0
  return item.content.reduce(
    (sum, part) => sum + (part.type === 'text' ? part.text.length : part.type === 'refusal' ? part.refusal.length : 0),
    0,
  )
}
