import {
  type BodyChanges,
  type CallLimits,
  changedRecord,
  periodOf,
  type SubscriptionBody,
  type WorkspaceBody,
} from '@signalbox/core/access'
import {
  type RoutingDefaults as Defaults,
  type Fields,
  invalidValueError,
  type RoutingDefaultsChange,
  routingDefaultsFields,
  type SettingsChange,
  type SettingsRecord,
  type Subscription,
  type SubscriptionChange,
  settingsFields,
  subscriptionFields,
  toWire,
  type WorkspaceSettings,
  workspaceLimitFields,
} from '@signalbox/core/resources'
import { findWorkspace } from './find-workspace.ts'
import { checkKnown, type Directory, type NamedLists, type NameWarning, warningsOf } from './known-names.ts'
import type { ManagedWorkspace } from './ports.ts'
import { given } from './wire-names.ts'

/** Requirements for every request of the workspace. */
export interface Settings extends SettingsRecord {
  /** Names in the lists that are no longer known. Absent if all are known. */
  readonly warnings?: readonly NameWarning[]
}

export interface SettingsResource {
  get(): Promise<Settings>
  /** @example await gateway.workspaces(id).settings.update({ dataPolicyRequired: 'zdr', logRetentionDays: 30 }) */
  update(input: SettingsChange): Promise<Settings>
}

export function settingsOf(managed: ManagedWorkspace): SettingsResource {
  const { records, models } = managed
  return {
    get: async () => settingsRecordOf((await findWorkspace(records, managed.workspaceId)).body, models),
    async update(input) {
      const updated = await changeWorkspace(managed, { type: 'settings', fields: settingsFields, input }, kept => {
        checkKnown(managed, requiredLists(input), requiredLists(kept.settings ?? {}))
        const { name = kept.name, ...demands } = input
        return { name, settings: given<WorkspaceSettings>({ ...kept.settings, ...demands }) }
      })
      return settingsRecordOf(updated, models)
    },
  }
}

function settingsRecordOf({ name, settings }: WorkspaceBody, models: Directory): Settings {
  const warnings = warningsOf(models, requiredLists(settings ?? {}))
  const defaults = { dataPolicyRequired: 'any', blockedProviders: [], logRetentionDays: 365, ownKeysOnly: false } as const
  return { ...defaults, ...settings, name, ...(warnings.length > 0 && { warnings }) }
}

const requiredLists = ({ allowedProviders, blockedProviders, allowedModels }: SettingsChange): NamedLists => ({
  allowedProviders,
  blockedProviders,
  allowedModels,
})

/** The limits of all keys of a workspace together. Each key has its own limits in addition. */
export interface WorkspaceLimits {
  /** Absent limits are those of `limits.workspace` of the gateway. */
  get(): Promise<CallLimits>
  /**
   * Changes limits. For the operator only, not available over HTTP. `null` removes a limit.
   *
   * @example await gateway.workspaces(id).limits.update({ tokensPerMinute: 200_000 })
   */
  update(input: { readonly [Limit in keyof CallLimits]?: number | null }): Promise<CallLimits>
}

export const limitsOf = (managed: ManagedWorkspace): WorkspaceLimits => ({
  get: async () => (await findWorkspace(managed.records, managed.workspaceId)).body.limits ?? {},
  async update(input) {
    const updated = await changeWorkspace(managed, { type: 'limits', fields: workspaceLimitFields, input }, ({ limits }) => ({
      limits: given<CallLimits>({ ...limits, ...input }),
    }))
    return updated.limits ?? {}
  },
})

/** The routing defaults of a workspace, with warnings about names that are no longer known. */
export interface RoutingDefaultsRecord extends Defaults {
  /** Names in the lists that are no longer known. Absent if all are known. */
  readonly warnings?: readonly NameWarning[]
}

export interface RoutingDefaultsResource {
  get(): Promise<RoutingDefaultsRecord>
  /** @example await gateway.workspaces(id).routingDefaults.update({ strategy: 'latency', ignore: ['slow-one'] }) */
  update(input: RoutingDefaultsChange): Promise<RoutingDefaultsRecord>
}

export function routingDefaultsOf(managed: ManagedWorkspace): RoutingDefaultsResource {
  const { records, strategies, models, isForSetup } = managed
  return {
    get: async () => defaultsRecordOf((await findWorkspace(records, managed.workspaceId)).body.routing ?? {}, models),
    async update(input) {
      const { strategy } = input
      if (typeof strategy === 'string' && !strategies.includes(strategy))
        throw invalidValueError('strategy', strategy, { oneOf: strategies })
      const part = { type: 'routing_defaults', fields: routingDefaultsFields, input } as const
      const updated = await changeWorkspace(managed, part, kept => {
        checkKnown(managed, routingLists(input), routingLists(kept.routing ?? {}))
        const routing = given<Defaults>({ ...kept.routing, ...input })
        if (isUsable(routing)) return { routing }
        // A list of the workspace does not decide whether `setup` succeeds: only the lists that `setup` passes stay.
        const own = given<Defaults>({ ...kept.routing, only: undefined, ignore: undefined, ...input })
        if (isForSetup && isUsable(own)) return { routing: own }
        throw invalidValueError('ignore', routing.ignore?.join(', '), 'names that leave a provider of `only`')
      })
      return defaultsRecordOf(updated.routing ?? {}, models)
    },
  }
}

function defaultsRecordOf(routing: Defaults, models: Directory): RoutingDefaultsRecord {
  const warnings = warningsOf(models, routingLists(routing))
  return warnings.length > 0 ? { ...routing, warnings } : routing
}

const routingLists = ({ order, only, ignore }: RoutingDefaultsChange): NamedLists => ({ order, only, ignore })

/** Whether the lists leave a provider that could serve a request. */
const isUsable = ({ only, ignore = [] }: Defaults): boolean => !only || only.length === 0 || !only.every(name => ignore.includes(name))

export interface SubscriptionResource {
  get(): Promise<Subscription>
  /**
   * Sets the subscription. For the operator only, not available over HTTP. Absent fields stay unchanged.
   *
   * @example await gateway.workspaces(id).subscription.set({ plan: 'pro', byokMonthlyRequestCap: 100_000 })
   */
  set(input: SubscriptionChange): Promise<Subscription>
}

export function subscriptionOf(managed: ManagedWorkspace): SubscriptionResource {
  const { records, clock } = managed
  return {
    get: async () => withDefaults((await findWorkspace(records, managed.workspaceId)).body.subscription, clock.now()),
    async set(input) {
      const { currentPeriodStart: start, currentPeriodEnd: end, ...others } = input
      const updated = await changeWorkspace(managed, { type: 'subscription', fields: subscriptionFields, input }, kept => ({
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

/** A part of a workspace's record: the type of its audit events, and its fields. */
interface WorkspacePart {
  readonly type: 'settings' | 'routing_defaults' | 'limits' | 'subscription' | 'auto_reload'
  readonly fields: Fields
}

/** Changes a part of a workspace's record, with an audit row. An input without fields changes nothing. Returns the body. */
export const changeWorkspace = (
  { records, commitWithAudit, workspaceId, actor }: ManagedWorkspace,
  { type, fields, input }: WorkspacePart & { readonly input: object },
  change: (kept: WorkspaceBody) => BodyChanges<'workspace'>,
): Promise<WorkspaceBody> =>
  commitWithAudit(workspaceId, actor, async () => {
    const workspace = await findWorkspace(records, workspaceId)
    if (Object.keys(input).length === 0) return { events: [], result: workspace.body }
    const body = change(workspace.body)
    return {
      puts: [changedRecord(workspace, { body })],
      events: [{ event: `${type}.updated`, subject: { type, id: workspaceId }, changes: toWire(fields, input) }],
      result: { ...workspace.body, ...body } as WorkspaceBody,
    }
  })
