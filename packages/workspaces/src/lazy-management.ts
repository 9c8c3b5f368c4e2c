import type { WorkspacePolicies } from '@signalbox/core/access'
import { endUserCaller } from '@signalbox/core/access'
import { type Endpoints, type ResourcePath, resourceAt, resources, workspaceEndpoints } from '@signalbox/core/resources'
import { once } from '@signalbox/dialects/common'
import { own } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import type { Management, ManagementSetting } from './management.ts'
import type { ManagementParts } from './ports.ts'
import { checkWorkspaceId } from './workspace-id.ts'
import type { Workspace, Workspaces } from './workspaces.ts'

/**
 * Management that is loaded on first use, so that programs that only serve inference do not load its code. `setting` is called at that
 * time.
 */
export function lazyManagement(terms: WorkspacePolicies, setting: () => Awaitable<ManagementSetting>): Management {
  const load = once(async () => (await import('./management.ts')).openManagement(await setting()))
  const one =
    (open: () => Promise<Workspaces>, setUp: ManagementParts['setUp']) =>
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
  const workspaces = (load: () => Promise<Workspaces>, setUp: ManagementParts['setUp']): Workspaces => {
    const open = once(load)
    return Object.assign(
      one(open, setUp),
      forwarded(open, workspaceEndpoints) as unknown as Pick<Workspaces, keyof typeof workspaceEndpoints>,
    )
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

type AnyMethod = (...args: readonly unknown[]) => unknown

/** Methods that forward to those of the same name once they are loaded. */
const forwarded = (open: () => Promise<object>, endpoints: Endpoints): Readonly<Record<string, AnyMethod>> =>
  Object.fromEntries(
    Object.keys(endpoints).map(name => [
      name,
      async (...args: readonly unknown[]) => own((await open()) as Readonly<Record<string, AnyMethod>>, name)?.(...args),
    ]),
  )

function resourcesOf(open: () => Promise<Workspace>): Omit<Workspace, 'asUser'> {
  const forwardedAt = (path: ResourcePath) => forwarded(async () => resourceAt(await open(), path), resources[path])
  const { 'billing.autoReload': _, ...paths } = resources
  const plain = Object.fromEntries(Object.keys(paths).map(path => [path, forwardedAt(path as ResourcePath)]))
  const { billing, analytics, ...others } = plain as unknown as Omit<Workspace, 'asUser'>
  return {
    ...others,
    billing: { ...billing, autoReload: forwardedAt('billing.autoReload') as unknown as Workspace['billing']['autoReload'] },
    analytics: {
      ...analytics,
      async *pages(query, max) {
        yield* (await open()).analytics.pages(query, max)
      },
    },
  }
}
