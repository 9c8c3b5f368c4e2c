import { isGatewayError } from '@signalbox/dialects/errors'
import type { Awaitable, Storage } from '@signalbox/storage'
import { allSettled } from '@signalbox/storage/awaitable'
import type { KeyRefusals } from '../../access/key-refusals.ts'
import { reloadsCredit } from '../../access/workspace-policy.ts'
import type { Plan } from '../../routing/plan.ts'
import type { Clock } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import type { Limits } from '../../upstream/limits.ts'
import { type HeldAccount, type HoldContext, holdFunds } from './budget-holds.ts'
import type { EarlyAdmission } from './early-admission.ts'
import {
  type Rate,
  type RateContext,
  ratesOfModel,
  ratesOfWorkspace,
  type Tokens,
  takeRates,
  tokensIn,
  tokensOfRequest,
} from './rate-limits.ts'
import { leaveSlots, type SlotKey, slotsOf, takeTogether, throwRefusals } from './slots.ts'

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

/**
 * Takes the concurrency slots and the rate limits, then places the hold. If any of them refuses, slots and tokens are given back; the
 * request still counts against the request rate. An early admission keeps its slots and counts, which are not taken again.
 */
export function* admit(
  asking: HoldContext & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits, clock, onSpent }: AdmitPorts,
): Step<Ticket> {
  const { caller, policy, plan, request, inputTokens, requestId, admission } = asking
  // Read here, not when the request arrived: preparing it may take longer than a rate window.
  const at = clock.now()
  const { counters, ledger } = storage
  const rated = { caller, policy, plan, at }
  const rates = ratesOfModel(rated, limits, tokensOfRequest(inputTokens, request.prompt.max_output_tokens, plan))
  if (!admission) rates.push(...ratesOfWorkspace(rated, limits))
  const slots = admission ? [] : slotsOf(caller, policy, limits)
  const results = yield* takeTogether({ rates, slots, requestId, at }, counters)
  const [counted] = results
  const tokens = counted?.status === 'fulfilled' ? tokensIn(counted.value as readonly Rate[]) : undefined
  try {
    throwRefusals(results, slots)
    const taken = admission?.slots ?? slots
    if (asking.journal) asking.journal.slotKeys = taken.map(({ key }) => key)
    const { plan: payable, accounts } = yield* holdFunds(asking, ledger)
    return { slots: taken, tokens, plan: payable, held: accounts }
  } catch (error) {
    const { keys, amount } = tokens ?? { keys: [], amount: 0 }
    const subtract = keys.map(key => () => counters.add(key, -amount, at))
    const givingBack = allSettled([...leaveSlots(slots, requestId, counters), ...subtract])
    // Failures here are ignored: the slot expires by itself, and the first error is the one to report. If the storage has failed, the
    // client does not wait for it again.
    if (!isGatewayError(error) || error.code !== 'service_unavailable') yield* wait(givingBack)
    if (isGatewayError(error) && error.code === 'insufficient_credits' && reloadsCredit(policy)) onSpent?.(caller.workspaceId)
    throw error
  }
}

/** Counts a request against the rate limits of the key and its workspace. Throws if one is exceeded. */
export const countRequest = (
  rated: RateContext & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits }: Pick<AdmitPorts, 'storage' | 'limits'>,
): Awaitable<unknown> =>
  takeRates([...ratesOfModel(rated, limits), ...(rated.admission ? [] : ratesOfWorkspace(rated, limits))], storage.counters, rated.at)
