import type { Caller } from '@signalbox/core/access'
import { type EndUser, endUserCaller, newRecord } from '@signalbox/core/access'
import { type Acceptance, acceptanceFields, type Member, type NewWorkspace, pageFields, workspaceFields } from '@signalbox/core/resources'
import { type Analytics, analyticsCalls, analyticsOf } from './analytics.ts'
import { type ApiKeys, apiKeyCalls, apiKeysOf } from './api-keys.ts'
import { type AuditEvents, auditEventCalls, auditEventsOf } from './audit-events.ts'
import { type ByokKeys, byokKeyCalls, byokKeysOf } from './byok/keys.ts'
import type { Actor } from './change.ts'
import { type CallSpecs, withCheckedCalls } from './check-calls.ts'
import { acceptInvite, type Invites, inviteCalls, invitesOf } from './invites.ts'
import { limitsCalls, limitsOf, type WorkspaceLimits } from './limits.ts'
import { type Members, memberCalls, membersOf } from './members.ts'
import { autoReloadCalls } from './money/auto-reload.ts'
import { type Billing, billingCalls, billingOf } from './money/billing.ts'
import { type Budgets, budgetCalls, budgetsOf } from './money/budgets.ts'
import { type SubscriptionResource, subscriptionCalls, subscriptionOf } from './money/subscription.ts'
import type { ManagementPorts, WorkspaceContext } from './ports.ts'
import { type RoutingDefaultsResource, routingDefaultsCalls, routingDefaultsOf } from './routing-defaults.ts'
import { type Sessions, sessionCalls, sessionsOf } from './sessions.ts'
import { type SettingsResource, settingsCalls, settingsOf } from './settings.ts'
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

export function workspacesOf(ports: ManagementPorts): Workspaces {
  const { records, commitWithAudit, clock, ids } = ports
  const one = (workspaceId: string, actor: Actor = {}): Workspace => workspaceOf({ ports, workspaceId, actor })
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
    acceptInvite: (input: Acceptance) => acceptInvite(ports, input),
    list: async ({ after, limit = 1_000 }: { readonly after?: string; readonly limit?: number } = {}) =>
      (await records.list('workspace', { limit, ...(after !== undefined && { after }) })).map(({ id, body }) => ({ id, name: body.name })),
  }
  const specs: CallSpecs<typeof verbs> = {
    create: { input: { fields: workspaceFields, mode: 'create' } },
    acceptInvite: { input: { fields: acceptanceFields, mode: 'create' } },
    list: { options: pageFields },
  }
  return Object.assign(one, withCheckedCalls('workspaces', verbs, { specs }))
}

function workspaceOf(context: WorkspaceContext): Workspace {
  const { nameStyle } = context.actor
  const checked = <Resource extends object>(name: string, methods: Resource, specs: CallSpecs<Resource>): Resource =>
    withCheckedCalls(name, methods, { specs, nameStyle })
  const billing = billingOf(context)
  const autoReload = checked('billing.autoReload', billing.autoReload, autoReloadCalls)
  return {
    async asUser(user) {
      await context.ports.setUp()
      return endUserCaller(context.ports.terms, context.workspaceId, user)
    },
    apiKeys: checked('apiKeys', apiKeysOf(context), apiKeyCalls),
    byokKeys: checked('byokKeys', byokKeysOf(context), byokKeyCalls),
    billing: checked('billing', { ...billing, autoReload }, billingCalls),
    budgets: checked('budgets', budgetsOf(context), budgetCalls),
    settings: checked('settings', settingsOf(context), settingsCalls),
    limits: checked('limits', limitsOf(context), limitsCalls),
    routingDefaults: checked('routingDefaults', routingDefaultsOf(context), routingDefaultsCalls),
    members: checked('members', membersOf(context), memberCalls),
    invites: checked('invites', invitesOf(context), inviteCalls),
    auditEvents: checked('auditEvents', auditEventsOf(context), auditEventCalls),
    sessions: checked('sessions', sessionsOf(context), sessionCalls),
    analytics: checked('analytics', analyticsOf(context), analyticsCalls),
    subscription: checked('subscription', subscriptionOf(context), subscriptionCalls),
  }
}
