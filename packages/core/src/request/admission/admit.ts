import type { Awaitable, Storage } from '@signalbox/storage'
import { allSettled } from '@signalbox/storage/awaitable'
import type { KeyRefusals } from '../../access/key-refusals.ts'
import { reloadsCredit } from '../../access/workspace-policy.ts'
import { isGatewayError } from '../../errors/gateway-error.ts'
import type { Plan } from '../../routing/plan.ts'
import type { Clock } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import type { Limits } from '../../upstream/limits.ts'
import type { EarlyAdmission } from './early-admission.ts'
import { type HeldAccount, type HoldContext, holdFunds } from './holds.ts'
import { type RateContext, ratesOfModel, ratesOfWorkspace, type Tokens, takeRates, tokensIn, tokensOfRequest } from './rate-limits.ts'
import { leaveSlots, type SlotKey, slotsOf, takeTogether, throwRefusals } from './slots.ts'

export interface AdmitPorts {
  readonly storage: Storage
  readonly limits: Limits
  readonly clock: Clock
  /** Counts requests that a limit refuses. */
  readonly refusals: KeyRefusals
  /** Called when the credit of a workspace with auto reload went down or did not suffice. */
  readonly onSpent?: ((workspaceId: string) => void) | undefined
}

/** An admitted request: its slots, counts and hold. */
export interface Ticket {
  readonly slots: readonly SlotKey[]
  /** The token counters to correct. Absent: tokens are not limited. */
  readonly tokens: Tokens | undefined
  /** The plan, limited to candidates that the workspace can afford. */
  readonly plan: Plan
  /** What is set aside for it. */
  readonly held: readonly HeldAccount[]
}

/**
 * The slots and the counters, then the money. What was taken is given back when something refuses; a refused request counts
 * against the rate. What an early admission has taken is not taken again, and stays with it when something refuses.
 */
export function* admit(
  asking: HoldContext & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits, clock, onSpent }: AdmitPorts,
): Step<Ticket> {
  const { caller, policy, plan, request, inputTokens, requestId, admission } = asking
  // Not when the request came: what prepares it may take longer than a window lasts.
  const at = clock.now()
  const { counters, ledger } = storage
  const rated = { caller, policy, plan, at }
  const rates = ratesOfModel(rated, limits, tokensOfRequest(inputTokens, request.prompt.max_output_tokens, plan))
  if (!admission) rates.push(...ratesOfWorkspace(rated, limits))
  const slots = admission ? [] : slotsOf(caller, policy, limits)
  const results = yield* takeTogether({ rates, slots, requestId, at }, counters)
  const tokens = results[0]?.status === 'fulfilled' ? tokensIn(rates) : undefined
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
    // Should this fail too, the slot frees itself in time, and the first trouble is the one to tell. A storage that failed may be silent
    // for long, which the client does not wait for.
    if (!isGatewayError(error) || error.code !== 'service_unavailable') yield* wait(givingBack)
    if (isGatewayError(error) && error.code === 'insufficient_credits' && reloadsCredit(policy)) onSpent?.(caller.workspaceId)
    throw error
  }
}

/** Counts against the rates of the key and its workspace. Throws where one is used up. */
export const countRequest = (
  rated: RateContext & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits }: Pick<AdmitPorts, 'storage' | 'limits'>,
): Awaitable<void> =>
  takeRates([...ratesOfModel(rated, limits), ...(rated.admission ? [] : ratesOfWorkspace(rated, limits))], storage.counters, rated.at)
