import type { Awaitable, Storage } from '@signalbox/storage'
import { type Admission, admitTo } from '@signalbox/storage/admission'
import { allSettled, andThen, recover } from '@signalbox/storage/awaitable'
import type { Caller } from '../../access/caller.ts'
import type { KeyRefusals } from '../../access/key-refusals.ts'
import { reloadsCredit } from '../../access/workspace-policy.ts'
import type { Plan } from '../../routing/plan.ts'
import type { Clock } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { orStoreDown, storeDownError } from '../../runtime/store-down.ts'
import { withinStorageWait } from '../../runtime/timers.ts'
import type { Limits } from '../../upstream/limits.ts'
import { accountsOf, type HeldAccount, type HoldContext, withoutCandidates } from './budget-holds.ts'
import { CallerLimits, managementLimit, type RequestLimit, type SlotKey, type Tokens, tokensOfRequest } from './limits.ts'

export interface AdmitPorts {
  readonly storage: Storage
  readonly limits: Limits
  readonly clock: Clock
  /** Counts requests that a limit refuses. */
  readonly refusals: KeyRefusals
  /** Called when a workspace with auto reload has spent credit, or had too little of it. */
  readonly onSpent?: ((workspaceId: string) => void) | undefined
}

/** An admitted request: its slots, counts and hold. */
export interface Ticket {
  readonly slots: readonly SlotKey[]
  /** The token counters to correct when the request ends. Undefined if tokens are not limited. */
  readonly tokens: Tokens | undefined
  /** The plan, limited to candidates that the workspace can afford. */
  readonly plan: Plan
  /** The accounts on which its hold reserves money. */
  readonly held: readonly HeldAccount[]
}

/** Part of an assumed answer that a request needs room for: fewer tokens are hardly an answer. */
const leastAnswerShare = 1 / 16

/**
 * Takes the concurrency slots, counts the rates and places the hold, or throws the error of the limit that refuses. Candidates that an
 * account refuses are left out. An assumed answer counts as much as the limits have room for: half of it, and half again, down to the least
 * share. An early admission keeps its slots and counts, which are not taken again.
 */
export function* admit(
  asking: HoldContext & { readonly admission?: { readonly slots: readonly SlotKey[] } | undefined },
  { storage, limits, clock, onSpent }: AdmitPorts,
): Step<Ticket> {
  const { caller, policy, request, inputTokens, requestId: id, admission, journal } = asking
  // Read here, not when the request arrived: preparing it may take longer than a rate window.
  const at = clock.now()
  let { plan } = asking
  const own = new CallerLimits(caller, policy, limits)
  const slots = admission ? [] : own.slots()
  // Without their errors, because a stream keeps them as long as it is open.
  const taken = admission?.slots ?? slots.map(({ key }) => ({ key }))
  if (journal) journal.slotKeys = taken.map(({ key }) => key)
  const requests = own.requests(plan.candidates[0].model.id)
  const shared = admission ? [] : own.workspaceRequests()
  const needed = tokensOfRequest(inputTokens, request.prompt.max_output_tokens, plan)
  let tokens = own.tokens(needed, at)
  let isCounted = false
  for (let share = 1; ; ) {
    const counters = isCounted ? tokens : [...requests, ...tokens, ...shared]
    // A request larger than a limit can never succeed.
    const tooLow = counters.find(({ amount, limit }) => amount > limit)
    const accounts = accountsOf(asking, plan)
    const refused = yield* take(storage, tooLow ? [...slots, tooLow] : [...slots, ...counters, ...accounts], {
      id,
      at,
      journal: journal?.write,
    })
    if (!refused) {
      const [counter] = tokens
      return {
        slots: taken,
        tokens: counter && { keys: tokens.map(({ key }) => key), amount: counter.amount },
        plan,
        held: accounts.map(({ key, amount, limit }) => ({ account: key, amount, floor: 0 - limit })),
      }
    }
    const { limit, left } = refused
    if (limit.kind === 'tokens' && needed.prompt !== undefined && limit !== tooLow && share > leastAnswerShare) {
      share /= 2
      tokens = own.tokens({ amount: needed.prompt + Math.floor((limit.amount - needed.prompt) / 2), prompt: needed.prompt }, at)
      continue
    }
    const refusing = accounts.find(account => account === limit)
    const narrower = refusing && withoutCandidates(plan, refusing)
    if (!narrower) {
      const error = limit.refuse(left)
      if (error.code === 'insufficient_credits' && reloadsCredit(policy)) onSpent?.(caller.workspaceId)
      throw error
    }
    plan = narrower
    isCounted = true
  }
}

/**
 * Takes limits in one step of the storage. Returns the one that refuses, with what it has left. If the wait is interrupted, what the storage
 * takes later is given back.
 */
export function* take<Taken extends RequestLimit>(
  storage: Storage,
  limits: readonly Taken[],
  { id, at, journal }: Omit<Admission, 'limits'>,
): Step<{ readonly limit: Taken; readonly left: number } | undefined> {
  let isPending = true
  let isTaken = false
  let isInterrupted = false
  const taking = recover(
    () => admitTo(storage, { id, limits, at, journal }),
    error => {
      isPending = false
      throw storeDownError(error)
    },
  )
  const taken = andThen(taking, refusal => {
    isPending = false
    isTaken = !refusal
    if (isInterrupted && isTaken) void giveBack(storage, limits, { id, at, journal })
    return refusal
  })
  try {
    const refusal = yield* wait(taken)
    return refusal && { limit: limits[refusal.index] as Taken, left: refusal.left }
  } catch (error) {
    isInterrupted = true
    // At once, because the storage may never answer. A hold expires then, and so does a slot.
    if (isPending) void allSettled(leaveSlots(limits.filter(isSlot), id, storage))
    // The answer came in the same turn of the event loop as the interruption, which won.
    else if (isTaken) void giveBack(storage, limits, { id, at, journal })
    throw error
  }
}

const isSlot = ({ kind }: RequestLimit): boolean => kind === 'slot'

function giveBack(storage: Storage, limits: readonly RequestLimit[], { id, at, journal }: Omit<Admission, 'limits'>): Awaitable<unknown> {
  const { counters, ledger } = storage
  const tokens = limits.filter(({ kind }) => kind === 'tokens')
  return allSettled<void>([
    ...leaveSlots(limits.filter(isSlot), id, storage),
    ...tokens.map(
      ({ key, amount }) =>
        () =>
          counters.add(key, -amount, at),
    ),
    () => (journal || limits.some(({ kind }) => kind === 'account') ? ledger.settle({ id, amounts: {}, at }) : undefined),
  ])
}

/** Returns calls that release the slots, whether or not they were taken. */
export const leaveSlots = (
  slots: readonly SlotKey[],
  requestId: string,
  { counters }: Pick<Storage, 'counters'>,
): (() => Awaitable<void>)[] =>
  slots.map(
    ({ key }) =>
      () =>
        counters.leave(key, requestId),
  )

/** Counts a request against the rate limits of the key and its workspace. Throws if one is exceeded. */
export function* countRequest(
  {
    caller,
    policy,
    plan,
    at,
    admission,
  }: Pick<HoldContext, 'caller' | 'policy' | 'plan' | 'at'> & { readonly admission?: object | undefined },
  { storage, limits }: Pick<AdmitPorts, 'storage' | 'limits'>,
): Step<void> {
  const own = new CallerLimits(caller, policy, limits)
  const counters = [...own.requests(plan.candidates[0].model.id), ...(admission ? [] : own.workspaceRequests())]
  const refused = yield* take(storage, counters, { id: '', at })
  if (refused) throw refused.limit.refuse(refused.left)
}

/**
 * Counts a management request against the key's limit.
 *
 * @throws {GatewayError} 429 `requests_per_min_exceeded`.
 */
export async function countManagement(
  { storage, limits, refusals, clock }: Pick<AdmitPorts, 'storage' | 'limits' | 'refusals' | 'clock'>,
  caller: Caller,
  kind: 'reads' | 'writes',
): Promise<void> {
  const limit = managementLimit(caller, kind, limits)
  const refusal = await orStoreDown(() => withinStorageWait(admitTo(storage, { id: '', limits: [limit], at: clock.now() }), clock))
  if (!refusal) return
  refusals.count(caller, clock.now())
  throw limit.refuse(refusal.left)
}
