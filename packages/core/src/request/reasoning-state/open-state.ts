import type { InferenceRequest, Item, ReasoningItem, Warning } from '@signalbox/dialects/protocol'
import { innerDialect, originalOf, pathOf, remember } from '@signalbox/dialects/protocol'
import type { ItemOwner } from '../../access/caller.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { KeyRing } from '../../runtime/seal.ts'
import { isEnvelope, isMaker, openState, type ReasoningState } from './envelope.ts'

// Opens the reasoning state in a request once. Each candidate then receives only the state that it issued.

export interface Carried {
  /** The request with the state that this candidate may receive. `bare`: without any state. */
  fit(candidate: Candidate, bare: boolean): Fitted
  /** The position in the conversation of the latest state that the candidate issued. Undefined if there is none. */
  lastMade(candidate: Candidate): number | undefined
}

interface Fitted {
  /** The same object as given if nothing changed, so that its original body is kept. */
  readonly request: InferenceRequest
  readonly warnings: readonly Warning[]
  /** Whether any state is sent. */
  readonly carries: boolean
}

type Stateful = ReasoningItem & { readonly encrypted_content: string }

/** A reasoning item with state. */
interface FoundState {
  readonly item: Stateful
  /** Whether the gateway sealed it. */
  readonly isSealed: boolean
  /** The sealed state. Undefined if it cannot be opened. */
  readonly state: ReasoningState | undefined
}

/** Reasons in warnings about removed state. */
const reasons = {
  foreign: 'made by another provider, account or model',
  unreadable: 'sealed for another workspace or user, sealed with a key that was removed, or modified',
  unsealed: 'in a format that this provider does not support',
  refused: 'refused by the provider',
} as const
type Reason = keyof typeof reasons

/** Opens the sealed state of a conversation. Returns undefined if it has none. */
export function openCarried(request: InferenceRequest, owner: ItemOwner, ring: KeyRing): Promise<Carried> | undefined {
  return request.prompt.input.some(isStateful) ? openAll(request, owner, ring) : undefined
}

const isStateful = (item: Item): item is Stateful => item.type === 'reasoning' && item.encrypted_content !== undefined

async function openAll(request: InferenceRequest, owner: ItemOwner, ring: KeyRing): Promise<Carried> {
  const found = new Map<number, FoundState>()
  await Promise.all(
    request.prompt.input.map(async (item, index) => {
      if (!isStateful(item)) return
      const isSealed = isEnvelope(item.encrypted_content)
      found.set(index, { item, isSealed, state: isSealed ? await openState(ring, owner, item.encrypted_content) : undefined })
    }),
  )
  return {
    fit: (candidate, bare) => fit(request, found, each => (bare ? 'refused' : judge(each, candidate))),
    lastMade: candidate => {
      let last: number | undefined
      for (const [at, { state }] of found) if (state && isMaker(candidate, state.maker)) last = Math.max(last ?? 0, at)
      return last
    },
  }
}

/** The item to send, or the reason why its state may not be sent. */
function judge({ item, isSealed, state }: FoundState, candidate: Candidate): Item | Reason {
  if (!isSealed) return readsUnsealed(item, candidate) ? item : 'unsealed'
  if (!state) return 'unreadable'
  return isMaker(candidate, state.maker) ? restored(item, state) : 'foreign'
}

/** Whether the candidate accepts state that its vendor issued and the gateway has not sealed. */
const readsUnsealed = (item: Stateful, { offer, dialect }: Candidate): boolean =>
  originalOf(item)?.dialect === offer.api && dialect?.acceptsNativeReasoningState === true

function restored(item: Stateful, { text, words }: ReasoningState): Item {
  const copy: ReasoningItem = {
    ...withoutState(item),
    ...(text !== undefined && { encrypted_content: text }),
    ...(words && { content: words }),
  }
  const original = originalOf(item)
  // The original uses the same field name, so the state is written into it and its other fields are preserved.
  if (original?.dialect !== innerDialect || text === undefined || words) return copy
  return remember(copy, { ...original, body: { ...original.body, encrypted_content: text } })
}

function withoutState({ encrypted_content, ...rest }: Stateful): ReasoningItem {
  return rest
}

const isSilent = ({ summary, content = [] }: ReasoningItem): boolean => [...summary, ...content].every(text => text === '')

function fit(request: InferenceRequest, found: ReadonlyMap<number, FoundState>, judged: (found: FoundState) => Item | Reason): Fitted {
  const dropped = new Map<Reason, number>()
  let firstDropped: string | undefined
  let changed = false
  const input = request.prompt.input.flatMap((item, index): readonly Item[] => {
    const stateful = found.get(index)
    if (!stateful) return [item]
    const verdict = judged(stateful)
    if (verdict === item) return [item]
    changed = true
    if (typeof verdict !== 'string') return [verdict]
    dropped.set(verdict, (dropped.get(verdict) ?? 0) + 1)
    firstDropped ??= pathOf(item, `input[${index}]`)
    const rest = withoutState(stateful.item)
    return isSilent(rest) ? [] : [rest]
  })
  const lost = [...dropped.values()].reduce((sum, count) => sum + count, 0)
  return {
    request: changed ? { ...request, prompt: { ...request.prompt, input } } : request,
    warnings: firstDropped === undefined ? [] : [stateDropped(dropped, lost, firstDropped)],
    carries: lost < found.size,
  }
}

function stateDropped(dropped: ReadonlyMap<Reason, number>, count: number, param: string): Warning {
  const why = [...dropped].map(([reason, times]) => (times === count ? reasons[reason] : `${times} ${reasons[reason]}`)).join(', ')
  return {
    code: 'reasoning_state_dropped',
    message: `The reasoning state of ${count === 1 ? 'one item' : `${count} items`} was left out: ${why}.`,
    param,
  }
}
