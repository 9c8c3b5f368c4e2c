import type { Batch } from '../execution/commit.ts'
import type { Delta, InferenceEvent } from '../protocol/event.ts'
import type { Item, Part } from '../protocol/item.ts'
import type { JsonObject } from '../protocol/wire.ts'

// A provider that ignores `max_output_tokens` is cut off, not paid for without end.

/** More characters than any token has on average in an honest answer; most have four. */
const charactersPerToken = 16
const slack = 1.05
const fewCharacters = 1_024

/** An item that is being told, and what was told of it. */
interface Open {
  readonly item: Item
  readonly deltas: Delta[]
}

/**
 * Passes batches on until the text told is longer than the cap can stand for; then ends the answer there, as incomplete, and
 * calls `cut`. Thoughts do not count: not every provider's cap does. The usage of what was cut is nobody's word, so none is told.
 */
export function ceiling(cap: number, cut: () => void): (batch: Batch) => Batch {
  const most = Math.ceil(cap * slack * charactersPerToken) + fewCharacters
  const open = new Map<number, Open>()
  let told = 0

  /** The event itself; or what of it may still be told, if it is the one too many. */
  const pass = (event: InferenceEvent): InferenceEvent | readonly InferenceEvent[] => {
    if (event.type === 'delta') {
      const { delta } = event
      if (counts(delta)) told += delta.text.length
      if (told > most && counts(delta)) return shortened(event, delta)
      open.get(event.index)?.deltas.push(delta)
    } else if (event.type === 'item_started') open.set(event.index, { item: event.item, deltas: [] })
    else if (event.type === 'item_finished') open.delete(event.index)
    return event
  }
  const shortened = ({ index }: { readonly index: number }, { kind, part, text }: Words): readonly InferenceEvent[] => {
    const delta: Delta = { kind, part, text: wellFormed(text.slice(0, text.length - (told - most))) }
    open.get(index)?.deltas.push(delta)
    return delta.text === '' ? [] : [{ type: 'delta', index, delta }]
  }
  const ending = (): readonly InferenceEvent[] => [
    ...[...open].map(([index, each]): InferenceEvent => ({ type: 'item_finished', index, item: soFar(each) })),
    { type: 'finished', outcome: { status: 'incomplete', reason: 'max_output_tokens' } },
  ]
  return batch => {
    let before = 0
    for (const event of batch) {
      const passed = pass(event)
      if (passed !== event) {
        cut()
        return [...batch.slice(0, before), ...(passed as readonly InferenceEvent[]), ...ending()]
      }
      before += 1
    }
    return batch
  }
}

type Words = Exclude<Delta, { readonly kind: 'annotation' }>

const counts = (delta: Delta): delta is Words => delta.kind === 'text' || delta.kind === 'refusal' || delta.kind === 'arguments'

/** No half of a surrogate pair at the end. */
const wellFormed = (text: string): string => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text)

/** An item by what was told of it. */
function soFar({ item, deltas }: Open): Item {
  const words = (kind: Delta['kind']): readonly string[] => piecesOf(deltas).flatMap(piece => (piece.kind === kind ? [piece.text] : []))
  if (item.type === 'message') return { ...item, content: piecesOf(deltas).map(partOf), status: 'incomplete' }
  if (item.type === 'function_call') return { ...item, arguments: words('arguments').join(''), status: 'incomplete' }
  if (item.type !== 'reasoning') return item
  const content = words('reasoning')
  return { ...item, summary: words('summary'), ...(content.length > 0 && { content }) }
}

interface Piece {
  readonly kind: Words['kind']
  readonly part: number
  text: string
  readonly annotations: JsonObject[]
  readonly logprobs: JsonObject[]
}

function piecesOf(deltas: readonly Delta[]): readonly Piece[] {
  const pieces = new Map<string, Piece>()
  for (const delta of deltas) {
    const kind = delta.kind === 'annotation' ? 'text' : delta.kind
    const key = `${kind}:${delta.part}`
    const piece = pieces.get(key) ?? { kind, part: delta.part, text: '', annotations: [], logprobs: [] }
    pieces.set(key, piece)
    if (delta.kind === 'annotation') piece.annotations.push(delta.annotation)
    else {
      piece.text += delta.text
      for (const entry of delta.logprobs ?? []) piece.logprobs.push(entry)
    }
  }
  return [...pieces.values()].sort((a, b) => a.part - b.part)
}

function partOf({ kind, text, annotations, logprobs }: Piece): Part {
  if (kind === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'text', text, ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }
}
