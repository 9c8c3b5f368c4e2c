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

export interface OutputCutter extends CutEvents {
  readonly maxCharacters: number
  /** By item, then by kind and part. Undefined until an item starts. */
  open: Map<number, Map<string, SentPart>> | undefined
  /** The part of the latest delta. */
  latest: LatestPart | undefined
  characters: number
}

/** Reasoning is not counted, since not every provider's cap includes it. A cut stream has no usage, because it is unknown. */
export const outputCutter = (cap: number, { onCut, close }: CutEvents): OutputCutter => ({
  maxCharacters: Math.ceil(cap * slack * maxCharactersPerToken) + fewCharacters,
  onCut,
  close,
  open: undefined,
  latest: undefined,
  characters: 0,
})

/** Returns the batch unchanged until the text exceeds what the cap allows; then ends the response there as incomplete. */
export function cutBatch(cutter: OutputCutter, batch: EventBatch): EventBatch {
  for (let at = 0; at < batch.length; at += 1) {
    const event = batch[at] as InferenceEvent
    if (!isOneTooMany(cutter, event)) continue
    cutter.onCut()
    return [...batch.slice(0, at), ...shortened(cutter, event), ...ending(cutter, batch.slice(at))]
  }
  return batch
}

/** Whether the text of a whole response exceeds what the cap allows. */
export const isTooLong = ({ maxCharacters }: OutputCutter, { output }: InferenceResponse): boolean =>
  output.reduce((sum, item) => sum + charactersOfItem(item), 0) > maxCharacters

type TextDelta = Exclude<Delta, { readonly kind: 'annotation' }>
type TextEvent = Extract<InferenceEvent, { type: 'delta' }> & { readonly delta: TextDelta }

function isOneTooMany(state: OutputCutter, event: InferenceEvent): event is TextEvent {
  if (event.type === 'item_started') {
    state.latest = undefined
    state.open ??= new Map()
    state.open.set(event.index, new Map())
  } else if (event.type === 'item_finished') {
    state.latest = undefined
    state.open?.delete(event.index)
  } else if (event.type === 'delta') {
    const { delta } = event
    if (delta.kind === 'text' || delta.kind === 'refusal' || delta.kind === 'arguments') {
      state.characters += delta.text.length
      if (state.characters > state.maxCharacters) return true
    }
    notePart(state, event.index, delta)
  }
  return false
}

function notePart(state: OutputCutter, index: number, delta: Delta): void {
  const { latest } = state
  const isSame = latest?.index === index && latest.kind === delta.kind && latest.part === delta.part
  const sent = isSame ? latest.sent : trackedPart(state, index, delta)
  if (sent === undefined) return
  if (delta.kind === 'annotation') sent.annotations += 1
  else {
    sent.characters += delta.text.length
    sent.logprobs += delta.logprobs?.length ?? 0
  }
}

/** The part that a delta extends, which becomes the latest. Undefined if its item is not open. */
function trackedPart(state: OutputCutter, index: number, { kind, part }: Delta): SentPart | undefined {
  const parts = state.open?.get(index)
  if (parts === undefined) return undefined
  const key = partKey(kind, part)
  const sent = parts.get(key) ?? { characters: 0, annotations: 0, logprobs: 0 }
  parts.set(key, sent)
  state.latest = { index, kind, part, sent }
  return sent
}

const partKey = (kind: Delta['kind'], part: number): string => `${kind === 'annotation' ? 'text' : kind}:${part}`

/** The first event past the limit, shortened to fit. */
function shortened(state: OutputCutter, { index, delta: { kind, part, text } }: TextEvent): EventBatch {
  const delta: Delta = { kind, part, text: wellFormed(text.slice(0, text.length - (state.characters - state.maxCharacters))) }
  if (delta.text === '') return []
  notePart(state, index, delta)
  return [{ type: 'delta', index, delta }]
}

/** Removes half of a surrogate pair at the end. */
const wellFormed = (text: string): string => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text)

function ending({ open, close }: OutputCutter, rest: EventBatch): EventBatch {
  const ends: InferenceEvent[] = []
  for (const event of [...rest, ...close()]) {
    const parts = open && event.type === 'item_finished' ? open.get(event.index) : undefined
    if (!open || event.type !== 'item_finished' || parts === undefined) continue
    open.delete(event.index)
    ends.push({ type: 'item_finished', index: event.index, item: soFar(event.item, parts) })
  }
  return [...ends, { type: 'finished', outcome: { status: 'incomplete', reason: 'max_output_tokens' } }]
}

/** An item, reduced to what was sent of it. It may be kept for later requests, unlike the text that it was cut from. */
function soFar(item: Item, sent: ReadonlyMap<string, SentPart>): Item {
  const sentOf = (kind: Delta['kind'], texts: readonly string[] = []): readonly string[] =>
    texts.flatMap((text, part) => {
      const characters = sent.get(partKey(kind, part))?.characters
      return characters === undefined ? [] : [copySlice(text, characters)]
    })
  if (item.type === 'message')
    return { ...item, content: item.content.flatMap((part, at) => partSoFar(part, at, sent)), status: 'incomplete' }
  if (item.type === 'function_call') return { ...item, arguments: sentOf('arguments', [item.arguments]).join(''), status: 'incomplete' }
  if (item.type !== 'reasoning') return item
  const content = sentOf('reasoning', item.content)
  const { content: _, ...rest } = item
  return { ...rest, summary: sentOf('summary', item.summary), ...(content.length > 0 && { content }) }
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
      ...(annotations.length > 0 && { annotations }),
      ...(logprobs.length > 0 && { logprobs }),
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
