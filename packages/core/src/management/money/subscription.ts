import { periodOf } from '../../access/accounts.ts'
import type { SubscriptionBody } from '../../access/kinds.ts'
import { changedRecord } from '../../access/records.ts'
import { type Subscription, type SubscriptionChange, subscriptionFields } from '../../resources/billing.ts'
import { toWire } from '../../resources/wire.ts'
import type { CallSpecs } from '../check-calls.ts'
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

export function subscriptionOf({ ports, workspaceId, actor }: WorkspaceContext): SubscriptionResource {
  const { records, commitWithAudit, clock } = ports
  const workspace = () => findWorkspace(records, workspaceId)
  return {
    get: async () => withDefaults((await workspace()).body.subscription, clock.now()),
    async set(input) {
      const set = await commitWithAudit(workspaceId, actor, async () => {
        const kept = await workspace()
        const { currentPeriodStart: start, currentPeriodEnd: end, ...others } = input
        const subscription = given<SubscriptionBody>({
          ...kept.body.subscription,
          ...others,
          ...(start !== undefined && { currentPeriodStart: start?.getTime() }),
          ...(end !== undefined && { currentPeriodEnd: end?.getTime() }),
        })
        return {
          puts: [changedRecord(kept, { body: { subscription } })],
          events: [
            {
              event: 'subscription.updated',
              subject: { type: 'subscription', id: workspaceId },
              changes: toWire(subscriptionFields, input),
            },
          ],
          result: subscription,
        }
      })
      return withDefaults(set, clock.now())
    },
  }
}

const usual = { plan: 'standard', status: 'active' } as const

function withDefaults(subscription: SubscriptionBody | undefined, now: number): Subscription {
  const { start = now, end = now } = periodOf('month', now)
  return { ...usual, currentPeriodStart: start, currentPeriodEnd: end, ...subscription }
}

/** The argument checks of the methods. */
export const subscriptionCalls: CallSpecs<SubscriptionResource> = { set: { input: { fields: subscriptionFields, mode: 'update' } } }
