import { allSettled, type Storage } from '@signalbox/storage'
import { reloads } from '../access/terms.ts'
import { isGatewayError, storeDown } from '../errors/gateway-error.ts'
import type { Limits } from '../execution/limits.ts'
import type { Plan } from '../routing/plan.ts'
import type { Clock } from '../runtime/ports.ts'
import type { EarlyAdmission } from './early-admission.ts'
import { type HeldAccount, type Holding, hold } from './holds.ts'
import type { Engine } from './infer.ts'
import { type Rated, ratesOfCaller, ratesOfModel, type Tokens, take, tokensIn, tokensOfRequest } from './rates.ts'
import { type Place, roomsOf, slotMs } from './slots.ts'

export interface Admitting {
  readonly storage: Storage
  readonly limits: Limits
  readonly clock: Pick<Clock, 'now'>
  readonly onSpent?: Engine['onSpent']
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
export async function admit(
  asking: Holding & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits, clock, onSpent }: Admitting,
): Promise<Ticket> {
  const { caller, terms, plan, request, inputTokens, requestId, admission } = asking
  // Not when the request came: what prepares it may take longer than a window lasts.
  const at = clock.now()
  const { counters, ledger } = storage
  const rated = { caller, terms, plan, at }
  const rates = ratesOfModel(rated, limits, tokensOfRequest(inputTokens, request.prompt.max_output_tokens, plan))
  if (!admission) rates.unshift(...ratesOfCaller(rated, limits))
  const rooms = admission ? [] : roomsOf(caller, terms, limits)
  const counting = take(rates, counters, at)
  const entering = rooms.map(
    ({ key, limit }) =>
      () =>
        counters.enter({ key, slot: requestId, limit, ttlMs: slotMs }, at),
  )
  const [[counted], entered] = await Promise.all([Promise.allSettled([counting]), allSettled(entering)])
  const tokens = counted?.status === 'fulfilled' ? tokensIn(rates) : undefined
  try {
    entered.forEach((room, place) => {
      if (room.status === 'rejected') throw storeDown(room.reason)
      if (!room.value) throw rooms[place]?.full()
    })
    if (counted?.status === 'rejected') throw counted.reason
    const places = admission?.places ?? rooms
    if (asking.journal) asking.journal.slotKeys = places.map(({ key }) => key)
    const { plan: payable, accounts } = await hold(asking, ledger)
    return { places, tokens, plan: payable, held: accounts }
  } catch (error) {
    const { keys, amount } = tokens ?? { keys: [], amount: 0 }
    const back = [
      ...rooms.map(
        ({ key }) =>
          () =>
            counters.leave(key, requestId),
      ),
      ...keys.map(key => () => counters.add(key, -amount, at)),
    ]
    // Should this fail too, the slot frees itself in time, and the first trouble is the one to tell.
    await allSettled(back)
    if (isGatewayError(error) && error.code === 'insufficient_credits' && reloads(terms)) onSpent?.(caller.workspaceId)
    throw error
  }
}

/** Counts against the rates of the key and its workspace. Throws where one is used up. */
export const countRequest = (
  rated: Rated & { readonly admission?: EarlyAdmission | undefined },
  { storage, limits }: Pick<Admitting, 'storage' | 'limits'>,
): Promise<void> =>
  take([...(rated.admission ? [] : ratesOfCaller(rated, limits)), ...ratesOfModel(rated, limits)], storage.counters, rated.at)
