import { periodOf } from '../../access/accounts.ts'
import type { SubscriptionBody } from '../../access/kinds.ts'
import { changed } from '../../access/records.ts'
import { checkText, checkWhole, wrong } from '../check.ts'
import { ownWorkspace } from '../own.ts'
import type { Desk } from '../ports.ts'
import { given, wireNames } from '../wire-names.ts'

export interface SubscriptionDesk {
  get(): Promise<Subscription>
  /**
   * Laid down by the operator; not to be had over HTTP. What is not said stays as it is.
   *
   * @example await gateway.workspaces(id).subscription.set({ plan: 'pro', byokMonthlyRequestCap: 100_000 })
   */
  set(input: SubscriptionChange): Promise<Subscription>
}

export interface Subscription extends SubscriptionBody {
  /** Unix milliseconds. Default: the calendar month (UTC). */
  readonly currentPeriodStart: number
  readonly currentPeriodEnd: number
}

/** `null`: back to what is usual. */
export interface SubscriptionChange {
  /** Default: `standard`. */
  readonly plan?: string | null
  /** Default: `active`. It is shown, and stops nothing. */
  readonly status?: SubscriptionBody['status'] | null
  /** Requests with credentials of the workspace's own in a calendar month (UTC), 0 or more. Default: any number. */
  readonly byokMonthlyRequestCap?: number | null
  readonly currentPeriodStart?: Date | null
  readonly currentPeriodEnd?: Date | null
}

export function subscriptionOf({ ports, workspaceId, actor }: Desk): SubscriptionDesk {
  const { records, register, clock } = ports
  const workspace = () => ownWorkspace(records, workspaceId)
  return {
    get: async () => told((await workspace()).body.subscription, clock.now()),
    async set(input) {
      check(input)
      const set = await register(workspaceId, actor, async () => {
        const kept = await workspace()
        const { currentPeriodStart: start, currentPeriodEnd: end, ...others } = input
        const subscription = given<SubscriptionBody>({
          ...kept.body.subscription,
          ...others,
          ...(start !== undefined && { currentPeriodStart: start?.getTime() }),
          ...(end !== undefined && { currentPeriodEnd: end?.getTime() }),
        })
        return {
          puts: [changed(kept, { body: { subscription } })],
          events: [{ event: 'subscription.updated', subject: { type: 'subscription', id: workspaceId }, changes: wireNames(input) }],
          result: subscription,
        }
      })
      return told(set, clock.now())
    },
  }
}

const usual = { plan: 'standard', status: 'active' } as const

function told(subscription: SubscriptionBody | undefined, now: number): Subscription {
  const { start = now, end = now } = periodOf('month', now)
  return { ...usual, currentPeriodStart: start, currentPeriodEnd: end, ...subscription }
}

function check({ plan, byokMonthlyRequestCap, currentPeriodStart: start, currentPeriodEnd: end }: SubscriptionChange): void {
  if (typeof plan === 'string') checkText('plan', plan)
  if (typeof byokMonthlyRequestCap === 'number') checkWhole('byok_monthly_request_cap', byokMonthlyRequestCap, { min: 0 })
  for (const [name, date] of Object.entries({ current_period_start: start, current_period_end: end }))
    if (date && Number.isNaN(date.getTime())) throw wrong(name, 'no valid date', 'a date')
}
