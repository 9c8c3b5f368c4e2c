import type { Caller } from '@signalbox/core/access'
import { type EndUser, endUserCaller, newRecord } from '@signalbox/core/access'
import { type Acceptance, type Endpoints, type Member, type NewWorkspace, resources, workspaceEndpoints } from '@signalbox/core/resources'
import { type Analytics, analyticsOf } from './analytics.ts'
import { type ApiKeys, apiKeysOf } from './api-keys.ts'
import { type AuditEvents, auditEventsOf } from './audit-events.ts'
import { type ByokKeys, byokKeysOf } from './byok/keys.ts'
import type { Actor } from './change.ts'
import { withCheckedCalls } from './check-calls.ts'
import { acceptInvite, type Invites, invitesOf } from './invites.ts'
import { type Members, membersOf } from './members.ts'
import { type Billing, billingOf } from './money/billing.ts'
import { type Budgets, budgetsOf } from './money/budgets.ts'
import type { ManagedWorkspace, ManagementParts } from './ports.ts'
import { type Sessions, sessionsOf } from './sessions.ts'
import {
  limitsOf,
  type RoutingDefaultsResource,
  routingDefaultsOf,
  type SettingsResource,
  type SubscriptionResource,
  settingsOf,
  subscriptionOf,
  type WorkspaceLimits,
} from './settings.ts'
import { checkWorkspaceId } from './workspace-id.ts'

/**
 * The workspaces of the gateway and their resources.
 *
 * @example
 * const { id } = await gateway.workspaces.create({ name: 'my app' })
 * const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'backend' })
 */
export interface Workspaces {
  /** The resources of a workspace. `actor`: the key on whose behalf it acts. Default: the operator of the gateway, with all rights. */
  (id: string, actor?: Actor): Workspace
  /** Creates a workspace. If the id exists already, the existing workspace is returned unchanged. */
  create(input: NewWorkspace): Promise<{ readonly id: string; readonly name: string }>
  /** Makes the holder of an invite's token a member of its workspace. */
  acceptInvite(input: Acceptance): Promise<Member & { readonly workspaceId: string }>
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly { readonly id: string; readonly name: string }[]>
}

/** The resources of one workspace, with the rights of one actor. */
export interface Workspace {
  /**
   * The caller that represents a user of the app, for `{ caller }` of the endpoints. Waits for `setup`, which may create the workspace.
   *
   * @throws {TypeError} A field has an invalid value.
   * @throws `resource_not_found` (404): the workspace does not exist.
   * @example const caller = await gateway.workspaces('app').asUser({ user: session.userId, budgets: [{ limit: usd(5) }] })
   */
  asUser(user: EndUser): Promise<Caller>
  readonly apiKeys: ApiKeys
  readonly byokKeys: ByokKeys
  readonly billing: Billing
  readonly budgets: Budgets
  readonly settings: SettingsResource
  readonly limits: WorkspaceLimits
  readonly routingDefaults: RoutingDefaultsResource
  readonly members: Members
  readonly invites: Invites
  readonly auditEvents: AuditEvents
  readonly sessions: Sessions
  readonly analytics: Analytics
  readonly subscription: SubscriptionResource
}

export function workspacesOf(parts: ManagementParts): Workspaces {
  const { records, commitWithAudit, clock, ids } = parts
  const one = (workspaceId: string, actor: Actor = {}): Workspace => workspaceOf({ ...parts, workspaceId, actor })
  const verbs: Pick<Workspaces, 'create' | 'acceptInvite' | 'list'> = {
    create: ({ id = ids.uuid(), name, billing = 'prepaid' }: NewWorkspace) =>
      commitWithAudit(checkWorkspaceId(id), {}, async () => {
        const old = await records.find('workspace', id, id)
        if (old) return { events: [], result: { id, name: old.body.name } }
        return {
          puts: [newRecord('workspace', { id, workspaceId: id, createdAt: clock.now(), body: { name, billing } })],
          events: [{ event: 'workspace.created', subject: { type: 'workspace', id }, changes: { name, billing } }],
          result: { id, name },
        }
      }),
    acceptInvite: (input: Acceptance) => acceptInvite(parts, input),
    list: async ({ after, limit = 1_000 }: { readonly after?: string; readonly limit?: number } = {}) =>
      (await records.list('workspace', { limit, after })).map(({ id, body }) => ({ id, name: body.name })),
  }
  return Object.assign(one, withCheckedCalls('workspaces', verbs, workspaceEndpoints))
}

function workspaceOf(managed: ManagedWorkspace): Workspace {
  const checked = <Resource extends object>(name: keyof typeof resources, methods: Resource): Resource =>
    withCheckedCalls<Resource>(name, methods, resources[name] as Endpoints, managed.actor.nameStyle)
  const billing = billingOf(managed)
  return {
    async asUser(user) {
      await managed.setUp()
      return endUserCaller(managed.terms, managed.workspaceId, user)
    },
    apiKeys: checked('apiKeys', apiKeysOf(managed)),
    byokKeys: checked('byokKeys', byokKeysOf(managed)),
    billing: checked('billing', { ...billing, autoReload: checked('billing.autoReload', billing.autoReload) }),
    budgets: checked('budgets', budgetsOf(managed)),
    settings: checked('settings', settingsOf(managed)),
    limits: checked('limits', limitsOf(managed)),
    routingDefaults: checked('routingDefaults', routingDefaultsOf(managed)),
    members: checked('members', membersOf(managed)),
    invites: checked('invites', invitesOf(managed)),
    auditEvents: checked('auditEvents', auditEventsOf(managed)),
    sessions: checked('sessions', sessionsOf(managed)),
    analytics: checked('analytics', analyticsOf(managed)),
    subscription: checked('subscription', subscriptionOf(managed)),
  }
}
