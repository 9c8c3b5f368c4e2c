import type { StoredWorkspace, WorkspaceStore } from '@signalbox/storage'

/** Workspaces by id. `memoryWorkspaces().insert({ id: 'ws_1', name: 'Us', billing: 'prepaid', createdAt: 0 })` */
export function memoryWorkspaces(): WorkspaceStore {
  const byId = new Map<string, StoredWorkspace>()
  return {
    async insert(workspace) {
      if (!byId.has(workspace.id)) byId.set(workspace.id, { ...workspace })
    },
    async find(id) {
      const found = byId.get(id)
      return found && { ...found }
    },
    list: async () => Array.from(byId.values(), workspace => ({ ...workspace })),
  }
}
