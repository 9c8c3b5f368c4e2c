import type { StoredWorkspace, WorkspaceStore } from '@signalbox/storage'
import type { Connection } from './group.ts'

interface Row {
  readonly id: string
  readonly name: string
  readonly billing: StoredWorkspace['billing']
  readonly created_at: number
}

/** Workspaces in SQLite. `await sqliteWorkspaces(connection).find('ws_1')` */
export function sqliteWorkspaces({ db, read, write }: Connection): WorkspaceStore {
  const insert = db.prepare('INSERT INTO workspaces (id, name, billing, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING')
  const find = db.prepare('SELECT id, name, billing, created_at FROM workspaces WHERE id = ?')
  const list = db.prepare('SELECT id, name, billing, created_at FROM workspaces ORDER BY seq')
  return {
    insert: ({ id, name, billing, createdAt }) =>
      write(() => {
        insert.run(id, name, billing, createdAt)
      }),
    find: id =>
      read(() => {
        const row = find.get(id)
        return row && toWorkspace(row as unknown as Row)
      }),
    list: () => read(() => list.all().map(row => toWorkspace(row as unknown as Row))),
  }
}

const toWorkspace = (row: Row): StoredWorkspace => ({ id: row.id, name: row.name, billing: row.billing, createdAt: row.created_at })
