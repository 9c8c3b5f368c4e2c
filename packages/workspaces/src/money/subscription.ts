import type { SubscriptionBody } from '@signalbox/core/access'
import { periodOf } from '@signalbox/core/access'
import { type Subscription, type SubscriptionChange, subscriptionFields } from '@signalbox/core/resources'
import { changeWorkspace } from '../change-workspace.ts'
import { findWorkspace } from '../find-workspace.ts'
import type { WorkspaceContext } from '../ports.ts'
import { given } from '../wire-names.ts'

export interface SubscriptionResource {
  get(): Promise<Subscription>
  /**
   * Sets the subscription. For the operator only, not available over HTTP. Absent fields stay unchanged.
   *
   * @example await gateway.workspaces(id).subscription.set({ plan: 'pro', byokMonthlyRequestCap: 100_000 })
   */
  set(input: SubscriptionChange): Promise<Subscription>
}

export function subscriptionOf(context: WorkspaceContext): SubscriptionResource {
  const { records, clock } = context.ports
  return {
    get: async () => withDefaults((await findWorkspace(records, context.workspaceId)).body.subscription, clock.now()),
    async set(input) {
      const { currentPeriodStart: start, currentPeriodEnd: end, ...others } = input
      const updated = await changeWorkspace(context, { type: 'subscription', fields: subscriptionFields, input }, kept => ({
        subscription: given<SubscriptionBody>({
          ...kept.subscription,
          ...others,
          ...(start !== undefined && { currentPeriodStart: start?.getTime() }),
          ...(end !== undefined && { currentPeriodEnd: end?.getTime() }),
        }),
      }))
      return withDefaults(updated.subscription, clock.now())
    },
  }
}

const usual = { plan: 'standard', status: 'active' } as const

function withDefaults(subscription: SubscriptionBody | undefined, now: number): Subscription {
  const { start = now, end = now } = periodOf('month', now)
  return { ...usual, currentPeriodStart: start, currentPeriodEnd: end, ...subscription }
}
