import type { StoredWorkspace, WorkspaceStore } from '@signalbox/storage'
import type { Clock, Ids } from '../runtime/ports.ts'

export interface Workspaces {
  create(input: {
    readonly id?: string
    readonly name: string
    readonly billing?: 'prepaid' | 'postpaid'
  }): Promise<{ readonly id: string; readonly name: string }>
  list(): Promise<readonly { readonly id: string; readonly name: string }[]>
}

export const workspacesOf = (store: WorkspaceStore, { clock, ids }: { readonly clock: Clock; readonly ids: Ids }): Workspaces => ({
  async create({ id = ids.uuid(), name, billing = 'prepaid' }) {
    const workspace: StoredWorkspace = { id, name, billing, createdAt: clock.now() }
    await store.insert(workspace)
    // Of two with one id the first is kept, and told.
    return (await store.find(id)) ?? workspace
  },
  list: () => store.list(),
})
