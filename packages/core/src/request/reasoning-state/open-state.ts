import type { Item, ReasoningItem } from '../../protocol/item.ts'
import { originalOf, pathOf, remember } from '../../protocol/original.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { Planning } from '../../routing/make-plan.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { KeyRing } from '../../runtime/seal.ts'
import { isEnvelope, isMaker, openState, type State } from './envelope.ts'

// Reasoning state on its way in: opened once per request, then given to each candidate as far as it is that candidate's own.

export interface Carried {
  /** The request as this candidate may see it. `bare`: without any state. */
  fit(candidate: Candidate, bare: boolean): Fitted
  /** Where in the conversation the candidate's own state stands last; nothing where it made none. */
  lastMade(candidate: Candidate): number | undefined
}

interface Fitted {
  /** The very request that was given where nothing had to change, so that its original still holds. */
  readonly request: InferenceRequest
  readonly warnings: readonly Warning[]
  /** Some state goes along. */
  readonly carries: boolean
}

type Stateful = ReasoningItem & { readonly encrypted_content: string }

/** A reasoning item that came with state. */
interface Found {
  readonly item: Stateful
  /** Sealed by us. */
  readonly ours: boolean
  /** What was sealed, if it opens. */
  readonly state: State | undefined
}

/** Why state is left out, in the words of the warning. */
const reasons = {
  foreign: 'made by another provider, account or model',
  unreadable: 'sealed for another workspace or with a key that is gone, or altered',
  unsealed: 'in the form of a vendor that is not asked here',
  refused: 'refused by the provider',
} as const
type Reason = keyof typeof reasons

/** The same planning, for a conversation that holds state: who made it goes before others. */
export const pinned = (planning: Planning, carried: Carried | undefined): Planning =>
  carried ? { ...planning, lastMade: carried.lastMade } : planning

/** Nothing, and nothing to wait for, where the conversation holds no state. */
export function openCarried(request: InferenceRequest, workspaceId: string, ring: KeyRing): Promise<Carried> | undefined {
  return request.prompt.input.some(isStateful) ? openAll(request, workspaceId, ring) : undefined
}

const isStateful = (item: Item): item is Stateful => item.type === 'reasoning' && item.encrypted_content !== undefined

async function openAll(request: InferenceRequest, workspaceId: string, ring: KeyRing): Promise<Carried> {
  const found = new Map<number, Found>()
  await Promise.all(
    request.prompt.input.map(async (item, at) => {
      if (!isStateful(item)) return
      const ours = isEnvelope(item.encrypted_content)
      found.set(at, { item, ours, state: ours ? await openState(ring, workspaceId, item.encrypted_content) : undefined })
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

/** The item as it may go along, or why its state may not. */
function judge({ item, ours, state }: Found, candidate: Candidate): Item | Reason {
  if (!ours) return readsUnsealed(item, candidate) ? item : 'unsealed'
  if (!state) return 'unreadable'
  return isMaker(candidate, state.maker) ? restored(item, state) : 'foreign'
}

/** A caller who came to us from the vendor brings the vendor's own state, and only that language can say it. */
const nativeStates: ReadonlySet<string> = new Set(['responses', 'messages'])
const readsUnsealed = (item: Stateful, { offer }: Candidate): boolean =>
  nativeStates.has(offer.dialect) && originalOf(item)?.dialect === offer.dialect

function restored(item: Stateful, { text, words }: State): Item {
  const copy: ReasoningItem = {
    ...withoutState(item),
    ...(text !== undefined && { encrypted_content: text }),
    ...(words && { content: words }),
  }
  const original = originalOf(item)
  // Here the wire field is the provider half's text, so what else the caller's item holds can go along.
  if (original?.dialect !== 'responses' || text === undefined || words) return copy
  return remember(copy, { ...original, body: { ...original.body, encrypted_content: text } })
}

function withoutState({ encrypted_content, ...rest }: Stateful): ReasoningItem {
  return rest
}

const isSilent = ({ summary, content = [] }: ReasoningItem): boolean => [...summary, ...content].every(text => text === '')

function fit(request: InferenceRequest, found: ReadonlyMap<number, Found>, judged: (found: Found) => Item | Reason): Fitted {
  const dropped = new Map<Reason, number>()
  let firstDropped: string | undefined
  let changed = false
  const input = request.prompt.input.flatMap((item, at): readonly Item[] => {
    const stateful = found.get(at)
    if (!stateful) return [item]
    const verdict = judged(stateful)
    if (verdict === item) return [item]
    changed = true
    if (typeof verdict !== 'string') return [verdict]
    dropped.set(verdict, (dropped.get(verdict) ?? 0) + 1)
    firstDropped ??= pathOf(item, `input[${at}]`)
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
