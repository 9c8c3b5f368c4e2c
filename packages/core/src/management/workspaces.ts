import type { WorkspaceBody } from '../access/kinds.ts'
import { made } from '../access/records.ts'
import { type Analytics, analyticsOf } from './analytics.ts'
import { type ApiKeys, apiKeysOf } from './api-keys.ts'
import { type AuditEvents, auditEventsOf } from './audit-events.ts'
import { type ByokKeys, byokKeysOf } from './byok/keys.ts'
import { checkText, wrong } from './check.ts'
import { held } from './check-shape.ts'
import { type Acceptance, acceptInvite, type Invites, invitesOf } from './invites.ts'
import { type LimitsDesk, limitsOf } from './limits.ts'
import { type Member, type Members, membersOf } from './members.ts'
import { type Billing, billingOf } from './money/billing.ts'
import { type Budgets, budgetsOf } from './money/budgets.ts'
import { type SubscriptionDesk, subscriptionOf } from './money/subscription.ts'
import type { Actor, Desk, ManagementPorts } from './ports.ts'
import { type RoutingDefaultsDesk, routingDefaultsOf } from './routing-defaults.ts'
import { type SettingsDesk, settingsOf } from './settings.ts'
import { houseSignatures, reloadSignatures, signatures } from './shapes.ts'

/**
 * The workspaces of the gateway, and what each of them owns.
 *
 * @example
 * const { id } = await gateway.workspaces.create({ name: 'my app' })
 * const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'backend' })
 */
export interface Workspaces {
  /** What a workspace owns. `actor`: for whom it is done; default: the operator of the gateway, who may do everything. */
  (id: string, actor?: Actor): Workspace
  /** Of two with one id the first is kept, and returned. */
  create(input: NewWorkspace): Promise<{ readonly id: string; readonly name: string }>
  /** Whoever has the token of an invite becomes a member of its workspace. */
  acceptInvite(input: Acceptance): Promise<Member & { readonly workspaceId: string }>
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly { readonly id: string; readonly name: string }[]>
}

export interface NewWorkspace {
  readonly id?: string
  readonly name: string
  /** Default: `prepaid`. */
  readonly billing?: WorkspaceBody['billing']
}

export interface Workspace {
  readonly apiKeys: ApiKeys
  readonly byokKeys: ByokKeys
  readonly billing: Billing
  readonly budgets: Budgets
  readonly settings: SettingsDesk
  readonly limits: LimitsDesk
  readonly routingDefaults: RoutingDefaultsDesk
  readonly members: Members
  readonly invites: Invites
  readonly auditEvents: AuditEvents
  readonly analytics: Analytics
  readonly subscription: SubscriptionDesk
}

export function workspacesOf(ports: ManagementPorts): Workspaces {
  const { records, register, clock, ids } = ports
  const one = (workspaceId: string, actor: Actor = {}): Workspace => {
    checkId(workspaceId)
    return workspaceOf({ ports, workspaceId, actor })
  }
  const house: Pick<Workspaces, 'create' | 'acceptInvite' | 'list'> = {
    create: ({ id = ids.uuid(), name, billing = 'prepaid' }: NewWorkspace) =>
      register(checkId(id), {}, async () => {
        checkText('name', name)
        const old = await records.find('workspace', id, id)
        if (old) return { events: [], result: { id, name: old.body.name } }
        return {
          puts: [made('workspace', { id, workspaceId: id, createdAt: clock.now(), body: { name, billing } })],
          events: [{ event: 'workspace.created', subject: { type: 'workspace', id }, changes: { name, billing } }],
          result: { id, name },
        }
      }),
    acceptInvite: (input: Acceptance) => acceptInvite(ports, input),
    list: async ({ after, limit = 1_000 }: { readonly after?: string; readonly limit?: number } = {}) =>
      (await records.list('workspace', { limit, ...(after !== undefined && { after }) })).map(({ id, body }) => ({ id, name: body.name })),
  }
  return Object.assign(one, held('workspaces', house, houseSignatures))
}

/** Without an id that is one, a list would be of all workspaces. */
function checkId(id: string): string {
  if (typeof id !== 'string' || id === '' || id.length > mostId)
    throw wrong('workspace_id', id, `the id of a workspace, 1 to ${mostId} characters`)
  return id
}

const mostId = 255

const workspaceOf = (desk: Desk): Workspace => ({
  apiKeys: held('apiKeys', apiKeysOf(desk), signatures.apiKeys),
  byokKeys: held('byokKeys', byokKeysOf(desk), signatures.byokKeys),
  billing: held('billing', withReload(billingOf(desk)), signatures.billing),
  budgets: held('budgets', budgetsOf(desk), signatures.budgets),
  settings: held('settings', settingsOf(desk), signatures.settings),
  limits: held('limits', limitsOf(desk), signatures.limits),
  routingDefaults: held('routingDefaults', routingDefaultsOf(desk), signatures.routingDefaults),
  members: held('members', membersOf(desk), signatures.members),
  invites: held('invites', invitesOf(desk), signatures.invites),
  auditEvents: held('auditEvents', auditEventsOf(desk), signatures.auditEvents),
  analytics: held('analytics', analyticsOf(desk), signatures.analytics),
  subscription: held('subscription', subscriptionOf(desk), signatures.subscription),
})

const withReload = (billing: Billing): Billing => ({
  ...billing,
  autoReload: held('billing.autoReload', billing.autoReload, reloadSignatures),
})
