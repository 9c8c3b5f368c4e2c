import type { WorkspacePolicies } from '@signalbox/core/access'
import { endUserCaller } from '@signalbox/core/access'
import { once } from '@signalbox/dialects/common'
import type { Awaitable } from '@signalbox/storage'
import type { Management, ManagementSetting } from './management.ts'
import type { ManagementPorts } from './ports.ts'
import { checkWorkspaceId } from './workspace-id.ts'
import type { Workspace, Workspaces } from './workspaces.ts'

/**
 * Management that is loaded on first use, so that programs that only serve inference do not load its code. `setting` is called at that
 * time.
 */
export function lazyManagement(terms: WorkspacePolicies, setting: () => Awaitable<ManagementSetting>): Management {
  const load = once(async () => (await import('./management.ts')).openManagement(await setting()))
  const one =
    (open: () => Promise<Workspaces>, setUp: ManagementPorts['setUp']) =>
    (...[workspaceId, actor]: Parameters<Workspaces>): Workspace => {
      checkWorkspaceId(workspaceId)
      const opened = async () => (await open())(workspaceId, actor)
      return {
        ...resourcesOf(opened),
        async asUser(user) {
          await setUp()
          return endUserCaller(terms, workspaceId, user)
        },
      }
    }
  const workspaces = (load: () => Promise<Workspaces>, setUp: ManagementPorts['setUp']): Workspaces => {
    const open = once(load)
    return Object.assign(one(open, setUp), forwarded(open, { create: true, acceptInvite: true, list: true }))
  }
  return {
    commitWithAudit: async (workspaceId, actor, decide) => (await load()).commitWithAudit(workspaceId, actor, decide),
    workspacesAfter: setUp => workspaces(async () => (await load()).workspacesAfter(setUp), setUp),
    workspacesOfSetup: () =>
      workspaces(
        async () => (await load()).workspacesOfSetup(),
        () => undefined,
      ),
  }
}

type Names<T> = { readonly [Name in keyof T]: true }
type AnyMethod = (...args: readonly unknown[]) => unknown

/** Methods that forward to those of the same name once they are loaded. */
const forwarded = <T extends object, Name extends keyof T & string>(
  open: () => Promise<T>,
  names: { readonly [N in Name]: true },
): Pick<T, Name> =>
  Object.fromEntries(
    Object.keys(names).map(name => [name, async (...args: readonly unknown[]) => ((await open())[name as Name] as AnyMethod)(...args)]),
  ) as Pick<T, Name>

type Resources = Omit<Workspace, 'asUser'>

const plain: { readonly [R in Exclude<keyof Resources, 'billing' | 'analytics'>]: Names<Resources[R]> } = {
  apiKeys: { create: true, list: true, get: true, usage: true, update: true, rotate: true, revoke: true },
  byokKeys: { create: true, list: true, get: true, update: true, validate: true, delete: true },
  budgets: { create: true, list: true, get: true, update: true, delete: true },
  settings: { get: true, update: true },
  limits: { get: true, update: true },
  routingDefaults: { get: true, update: true },
  members: { list: true, add: true, update: true, remove: true },
  invites: { list: true, create: true, revoke: true },
  auditEvents: { list: true, verify: true },
  sessions: { create: true, list: true, revoke: true },
  subscription: { get: true, set: true },
}
const billingNames: Names<Omit<Resources['billing'], 'autoReload'>> = { balance: true, credit: true, adjust: true, ledger: true }
const analyticsNames: Names<Omit<Resources['analytics'], 'pages'>> = {
  request: true,
  summary: true,
  trends: true,
  requests: true,
  routing: true,
  count: true,
}

function resourcesOf(open: () => Promise<Workspace>): Resources {
  const resources = Object.entries(plain).map(([name, names]) => {
    const openOne = async (): Promise<object> => (await open())[name as keyof typeof plain]
    return [name, forwarded(openOne, names as Names<object>)]
  })
  return {
    ...(Object.fromEntries(resources) as Pick<Resources, keyof typeof plain>),
    billing: {
      ...forwarded(async () => (await open()).billing, billingNames),
      autoReload: forwarded(async () => (await open()).billing.autoReload, { update: true }),
    },
    analytics: {
      ...forwarded(async () => (await open()).analytics, analyticsNames),
      async *pages(query, max) {
        yield* (await open()).analytics.pages(query, max)
      },
    },
  }
}
