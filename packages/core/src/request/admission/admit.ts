import { allSettled, type Storage } from '@signalbox/storage'
import { reloads } from '../../access/terms.ts'
import { isGatewayError } from '../../errors/gateway-error.ts'
import type { Plan } from '../../routing/plan.ts'
import type { Clock } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import type { Limits } from '../../upstream/limits.ts'
import type { EarlyAdmission } from './early-admission.ts'
import { type HeldAccount, type Holding, hold } from './holds.ts'
import { type Rated, ratesOfCaller, ratesOfModel, type Tokens, take, tokensIn, tokensOfRequest } from './rate-limits.ts'
import { leaveRooms, type Place, roomsOf, takeTogether, throwRefusals } from './slots.ts'

export interface AdmitPorts {
  readonly storage: Storage
  readonly limits: Limits
  readonly clock: Clock
  /** Credit has gone down, or did not suffice, of a workspace that reloads it. */
  readonly onSpent?: ((workspaceId: string) => void) | undefined
}

/** Leave to proceed: slots, counts taken, money held. */
export interface Ticket {
  readonly places: readonly Place[]
  /** Absent: nobody limits them. */
  readonly tokens: Tokens | undefined
  /** Those of the plan for whom the money is there. */
  readonly plan: Plan
  /** What is set aside for it. */
  readonly held: readonly HeldAccount[]
}

/**
 * The slots and the counters, then the money. What was taken is given back when something refuses; a refused request counts
 * against the rate. What an early admission has taken is not taken again, and stays with it when something refuses.
 */
export function* admit(
  asking: Holding & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits, clock, onSpent }: AdmitPorts,
): Step<Ticket> {
  const { caller, terms, plan, request, inputTokens, requestId, admission } = asking
  // Not when the request came: what prepares it may take longer than a window lasts.
  const at = clock.now()
  const { counters, ledger } = storage
  const rated = { caller, terms, plan, at }
  const rates = ratesOfModel(rated, limits, tokensOfRequest(inputTokens, request.prompt.max_output_tokens, plan))
  if (!admission) rates.unshift(...ratesOfCaller(rated, limits))
  const rooms = admission ? [] : roomsOf(caller, terms, limits)
  const { counted, entered } = yield* takeTogether({ rates, rooms, requestId, at }, counters)
  const tokens = counted.status === 'fulfilled' ? tokensIn(rates) : undefined
  try {
    throwRefusals({ rooms, counted, entered })
    const places = admission?.places ?? rooms
    if (asking.journal) asking.journal.slotKeys = places.map(({ key }) => key)
    const { plan: payable, accounts } = yield* hold(asking, ledger)
    return { places, tokens, plan: payable, held: accounts }
  } catch (error) {
    const { keys, amount } = tokens ?? { keys: [], amount: 0 }
    const subtract = keys.map(key => () => counters.add(key, -amount, at))
    // Should this fail too, the slot frees itself in time, and the first trouble is the one to tell.
    yield* wait(allSettled([...leaveRooms(rooms, requestId, counters), ...subtract]))
    if (isGatewayError(error) && error.code === 'insufficient_credits' && reloads(terms)) onSpent?.(caller.workspaceId)
    throw error
  }
}

/** Counts against the rates of the key and its workspace. Throws where one is used up. */
export const countRequest = (
  rated: Rated & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits }: Pick<AdmitPorts, 'storage' | 'limits'>,
): Step<void> =>
  take([...(rated.admission ? [] : ratesOfCaller(rated, limits)), ...ratesOfModel(rated, limits)], storage.counters, rated.at)
