import type { Item, ItemStatus, MessageItem, Part, ReasoningItem } from '../../protocol/item.ts'
import { originalOf, remember } from '../../protocol/original.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import type { PartKind } from './wire.ts'

// An item while it is being told: what deltas said so far, and how that and the provider's last word become one item.

export interface GrowingPart {
  readonly kind: PartKind
  readonly number: number
  text: string
  readonly annotations: JsonObject[]
  readonly logprobs: JsonObject[]
}

export interface Growing {
  /** Ours, once announced. */
  index: number | undefined
  /** As it was announced, or as the first delta made us guess. */
  item: Item
  readonly parts: Map<string, GrowingPart>
  /** The part that was spoken of last. */
  latest: GrowingPart | undefined
  arguments: string
  finished: boolean
}

export const startGrowing = (item: Item): Growing => ({
  index: undefined,
  item,
  parts: new Map(),
  latest: undefined,
  arguments: '',
  finished: false,
})

export function partOf(growing: Growing, kind: PartKind, number: number): GrowingPart {
  const { latest } = growing
  if (latest?.kind === kind && latest.number === number) return latest
  const key = `${kind}:${number}`
  const part = growing.parts.get(key) ?? { kind, number, text: '', annotations: [], logprobs: [] }
  growing.parts.set(key, part)
  growing.latest = part
  return part
}

/** Who it is, and nothing of what it says: what is sealed or said in it is told when it is finished. */
export function shellOf(item: Item): Item {
  const shell = bare(item)
  return shell === item ? item : remember(shell, originalOf(item))
}

function bare(item: Item): Item {
  if (item.type === 'message') return { ...item, content: [], status: 'in_progress' }
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' }
  if (item.type === 'reasoning') return { type: 'reasoning', ...(item.id !== undefined && { id: item.id }), summary: [] }
  return item
}

/** Empty items to grow, for deltas about an item that nobody announced. */
export const guesses = {
  message: { type: 'message', role: 'assistant', content: [] },
  reasoning: { type: 'reasoning', summary: [] },
  function_call: { type: 'function_call', call_id: '', name: '', arguments: '' },
} as const satisfies Record<string, Item>

export type Guess = keyof typeof guesses

/** The item by what its deltas said alone. */
export function grownItem({ item, parts, arguments: written }: Growing, status: ItemStatus): Item {
  if (item.type === 'message') return { ...item, content: contentOf(parts), status }
  if (item.type === 'function_call') return { ...item, arguments: written, status }
  if (item.type !== 'reasoning') return item
  return { ...item, ...thoughtsOf(parts) }
}

const inOrder = (parts: Growing['parts'], ...kinds: readonly PartKind[]): readonly GrowingPart[] =>
  [...parts.values()].filter(part => kinds.includes(part.kind)).sort((a, b) => a.number - b.number)

const contentOf = (parts: Growing['parts']): readonly Part[] =>
  inOrder(parts, 'text', 'refusal').map(({ kind, text, annotations, logprobs }) => {
    if (kind === 'refusal') return { type: 'refusal', refusal: text }
    return { type: 'text', text, ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }
  })

const thoughtsOf = (parts: Growing['parts']): Pick<ReasoningItem, 'summary' | 'content'> => {
  const content = inOrder(parts, 'reasoning').map(part => part.text)
  return { summary: inOrder(parts, 'summary').map(part => part.text), ...(content.length > 0 && { content }) }
}

/**
 * The provider's last word, completed by what was told before it: some leave out of the finished item what they have
 * streamed. The id stays the announced one, since some change it with every event.
 */
export function mergedItem(growing: Growing, last: Item): Item {
  const { item, parts } = growing
  if (last.type !== item.type) return grownItem(growing, 'completed')
  const merged =
    last.type === 'message' ? withContent(last, parts) : last.type === 'reasoning' ? withThoughts(last, parts) : withCall(growing, last)
  return remember(merged, originalOf(last))
}

const idOf = (item: Item): { readonly id?: string } => ('id' in item && item.id !== undefined ? { id: item.id } : {})

const withContent = (last: MessageItem, parts: Growing['parts']): Item => ({
  ...last,
  ...(last.content.length === 0 && { content: contentOf(parts) }),
})

function withThoughts(last: ReasoningItem, parts: Growing['parts']): Item {
  const told = thoughtsOf(parts)
  return {
    ...last,
    ...(last.summary.length === 0 && { summary: told.summary }),
    ...(!last.content && told.content && { content: told.content }),
  }
}

function withCall({ item, arguments: told }: Growing, last: Item): Item {
  if (last.type !== 'function_call' || item.type !== 'function_call') return last
  const written = last.arguments === '' ? told : last.arguments
  return {
    ...last,
    call_id: item.call_id === '' ? last.call_id : item.call_id,
    name: item.name === '' ? last.name : item.name,
    arguments: written === '' && last.status !== 'incomplete' ? '{}' : written,
  }
}

export const withId = (item: Item, announced: Item): Item => {
  if (item.type === 'native' || item.type === 'function_call_output') return item
  return remember({ ...item, ...idOf(announced) } as Item, originalOf(item))
}
