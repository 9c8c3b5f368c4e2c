import type { Credential } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { type IsUsableExpired, orExpired } from '../runtime/expired-reads.ts'
import { createLru } from '../runtime/lru.ts'
import type { Clock } from '../runtime/ports.ts'
import { storageWaitMs } from '../runtime/timers.ts'
import { maxKeysOfProvider } from './credential-vault.ts'
import type { WorkspaceBody } from './kinds.ts'
import type { Records, TypedRecord } from './records.ts'

/** The records of a workspace that affect its requests: settings, budgets and provider keys. At most 30 s old. */
export interface WorkspacePolicy {
  readonly workspace: TypedRecord<'workspace'>
  readonly budgets: readonly TypedRecord<'budget'>[]
  /** Usable credentials of the workspace, by provider id, in the order in which they are tried. The objects stay the same until the records change. */
  readonly credentials: ReadonlyMap<string, readonly Credential[]>
  /** Keys, by provider id, that are enabled but cannot be used. Absent if there are none. */
  readonly unusableKeys?: ReadonlyMap<string, readonly UnusableKey[]>
}

/** A provider key of a workspace that its provider refuses, or that cannot be unsealed. */
interface UnusableKey {
  readonly id: string
  readonly name: string
  readonly isRefused: boolean
}

/** What applies to the requests of workspaces, cached for 30 s. */
export interface WorkspacePolicies {
  /** The policy, if it was read within the last 30 s, or within the minute before an ongoing outage. `now`: monotonic milliseconds. */
  cached(workspaceId: string, now?: number): WorkspacePolicy | undefined
  /** The policy. Returns no promise if it was read within the last 30 s. Undefined if the workspace does not exist. */
  of(workspaceId: string): Awaitable<WorkspacePolicy | undefined>
  /** The policy from a read that begins after this call. Calls during a read share the next one. */
  readFresh(workspaceId: string): Promise<WorkspacePolicy | undefined>
  /** Drops the policy of a workspace after a change, or all policies. A running read is not cached. */
  forget(workspaceId: string | undefined): void
}

export interface WorkspacePolicyPorts {
  readonly records: Records
  readonly clock: Clock
  /** Decides whether an expired policy may still be used. Absent: it is read again, or the request fails. */
  readonly isUsableExpired?: IsUsableExpired | undefined
  /** Unseals credentials. One that cannot be unsealed is left out, without failing a request. */
  readonly open: (credentials: readonly TypedRecord<'credential'>[]) => Promise<ReadonlyMap<string, readonly Credential[]>>
}

const cacheMs = 30_000
const aheadMs = 10_000
const maxWorkspaces = 10_000
/** A read that takes longer was dropped with the request that started it, as on Workers, and its promise never settles. */
const maxReadMs = 2 * storageWaitMs
/** Maximum budgets, and maximum credentials, that a workspace can be given while it is in use. `setup` may add more. */
export const maxRecordsOfKind = 200
/** How many of them are read: those that `setup` adds to a full workspace count as well. */
export const maxRecordsRead = 1_000

interface Cached {
  readonly policy: WorkspacePolicy
  /** Monotonic milliseconds: setting the wall clock back must not prolong it. */
  readonly until: number
}

/** A running read of a policy. */
interface RunningRead {
  readonly pending: Promise<WorkspacePolicy | undefined>
  /** Other requests may wait for it. Absent for a background read, which may be dropped with the request that started it. */
  readonly shared: Promise<WorkspacePolicy | undefined> | undefined
  /** Monotonic milliseconds after which the read counts as dropped. */
  readonly lostAt: number
}

const unlessLost = (running: RunningRead | undefined, now: number): RunningRead | undefined =>
  running && now < running.lostAt ? running : undefined

/** Creates the cache of workspace policies. */
export function createWorkspacePolicies({ records, clock, isUsableExpired, open }: WorkspacePolicyPorts): WorkspacePolicies {
  const known = createLru<Cached>(maxWorkspaces)
  // Concurrent requests of a workspace share one read.
  const reading = new Map<string, RunningRead>()
  // By workspace: the read that starts when the running one ends.
  const following = new Map<string, Promise<WorkspacePolicy | undefined>>()

  const readOf = (workspaceId: string): RunningRead | undefined => unlessLost(reading.get(workspaceId), clock.monotonic())
  const cachedPolicy = (workspaceId: string, now = clock.monotonic()): WorkspacePolicy | undefined => {
    const cached = known.get(workspaceId)
    const leftMs = cached ? cached.until - now : 0
    if (!cached || (leftMs <= 0 && !isUsableExpired?.(cached.until))) return undefined
    // Refreshed in the background shortly before it expires, so that no request waits.
    if (leftMs <= aheadMs && !readOf(workspaceId)) void ask(workspaceId, { isShared: false }).catch(() => {})
    return cached.policy
  }
  const read = async (workspaceId: string): Promise<WorkspacePolicy | undefined> => {
    const [workspace, budgets, credentials] = await Promise.all([
      records.find('workspace', workspaceId, workspaceId),
      records.list('budget', { workspaceId, limit: maxRecordsRead }),
      records.list('credential', { workspaceId, limit: maxRecordsRead }),
    ])
    if (!workspace) return undefined
    const opened = await open(credentials)
    return { workspace, budgets, credentials: opened, ...unusableOf(credentials, opened) }
  }
  const ask = (workspaceId: string, { isShared = true } = {}): Promise<WorkspacePolicy | undefined> => {
    // The age counts from before the read, so that a change during a slow read takes effect in time.
    const beganAt = clock.monotonic()
    const pending = read(workspaceId)
      .then(policy => {
        if (policy && reading.get(workspaceId)?.pending === pending) known.set(workspaceId, { policy, until: beganAt + cacheMs })
        return policy
      })
      .finally(() => {
        if (reading.get(workspaceId)?.pending === pending) reading.delete(workspaceId)
      })
    reading.set(workspaceId, { pending, shared: isShared ? pending : undefined, lostAt: beganAt + maxReadMs })
    return pending
  }
  const askAfter = (running: Promise<WorkspacePolicy | undefined>, workspaceId: string): Promise<WorkspacePolicy | undefined> => {
    const begin = (): Promise<WorkspacePolicy | undefined> => {
      following.delete(workspaceId)
      return ask(workspaceId)
    }
    const next = running.then(begin, begin)
    following.set(workspaceId, next)
    return next
  }
  return {
    cached: cachedPolicy,
    readFresh(workspaceId) {
      const running = readOf(workspaceId)?.shared
      if (!running) return ask(workspaceId)
      return following.get(workspaceId) ?? askAfter(running, workspaceId)
    },
    of: id => cachedPolicy(id) ?? orExpired(readOf(id)?.shared ?? ask(id), () => cachedPolicy(id)),
    forget(workspaceId) {
      drop(known, workspaceId)
      drop(reading, workspaceId)
    },
  }
}

const drop = (kept: Pick<Map<string, unknown>, 'clear' | 'delete'>, id: string | undefined): unknown =>
  id === undefined ? kept.clear() : kept.delete(id)

function unusableOf(
  credentials: readonly TypedRecord<'credential'>[],
  opened: WorkspacePolicy['credentials'],
): Pick<WorkspacePolicy, 'unusableKeys'> {
  const byProvider = new Map<string, UnusableKey[]>()
  for (const record of credentials) {
    const { provider, name, disabled, validationStatus } = record.body
    const isRefused = validationStatus === 'invalid'
    const usable = opened.get(provider) ?? []
    const isUsable = !isRefused && (usable.length >= maxKeysOfProvider || usable.some(({ id }) => id === record.id))
    if (disabled || isUsable) continue
    byProvider.set(provider, [...(byProvider.get(provider) ?? []), { id: record.id, name, isRefused }])
  }
  return byProvider.size > 0 ? { unusableKeys: byProvider } : {}
}

/** Whether credit is reloaded automatically when it runs low. */
export const reloadsCredit = ({ workspace }: WorkspacePolicy): boolean => workspace.body.autoReload?.enabled === true

export const isPrepaid = ({ billing }: Pick<WorkspaceBody, 'billing'>): boolean => billing === 'prepaid'
