import type { ItemStore } from '@signalbox/storage'
import { faultOfItems, faultOfRenewal } from '@signalbox/storage/faults'
import type { ItemTimes, StoredItem } from '@signalbox/storage/items'

interface ItemRow {
  /** Undefined if two items had the id. */
  readonly item: StoredItem | undefined
  readonly expiresAt: number
  readonly bytes: number
}

interface WorkspaceItems {
  /** In the order in which they were stored or renewed. */
  readonly rows: Map<string, ItemRow>
  bytes: number
}

const isThere = (expiresAt: number, { at, latest }: ItemTimes): boolean => expiresAt > at && expiresAt <= latest

/** Rows by workspace, and their bytes. */
function itemRows() {
  // The workspace that stored an item last comes last.
  const workspaces = new Map<string, WorkspaceItems>()
  let totalBytes = 0
  const remove = (mine: WorkspaceItems, id: string): ItemRow | undefined => {
    const row = mine.rows.get(id)
    mine.rows.delete(id)
    mine.bytes -= row?.bytes ?? 0
    totalBytes -= row?.bytes ?? 0
    return row
  }
  return {
    workspaces,
    totalBytes: () => totalBytes,
    /** Removes the oldest rows of a workspace, up to the first wanted one. */
    removeOldest(workspaceId: string, mine: WorkspaceItems, isWanted: (row: ItemRow) => boolean): void {
      for (const [id, row] of mine.rows) {
        if (isWanted(row)) break
        remove(mine, id)
      }
      if (mine.rows.size === 0) workspaces.delete(workspaceId)
    },
    add(item: StoredItem, valid: ItemTimes): WorkspaceItems {
      const { workspaceId, id, expiresAt, body } = item
      const mine = workspaces.get(workspaceId) ?? { rows: new Map(), bytes: 0 }
      const known = remove(mine, id)
      const isOther = known !== undefined && isThere(known.expiresAt, valid)
      const row: ItemRow = isOther ? { item: undefined, expiresAt, bytes: 0 } : { item: { ...item }, expiresAt, bytes: body.length }
      mine.rows.set(id, row)
      mine.bytes += row.bytes
      totalBytes += row.bytes
      workspaces.delete(workspaceId)
      workspaces.set(workspaceId, mine)
      return mine
    },
  }
}

/** Response items, at most `maxTotalBytes` of them. `memoryItems(1_000_000).find('ws_1', ['msg_1'], { at, latest })` */
export function memoryItems(maxTotalBytes: number): ItemStore {
  const { workspaces, totalBytes, removeOldest, add } = itemRows()
  return {
    put(items, maxBytes, valid) {
      const fault = faultOfItems(items, maxBytes, valid)
      if (fault) throw fault
      for (const item of items) {
        const mine = add(item, valid)
        removeOldest(item.workspaceId, mine, row => isThere(row.expiresAt, valid) && mine.bytes <= maxBytes)
      }
      for (const [workspaceId, mine] of workspaces) {
        if (totalBytes() <= maxTotalBytes) return
        removeOldest(workspaceId, mine, () => totalBytes() <= maxTotalBytes)
      }
    },
    find(workspaceId, ids, valid) {
      const rows = workspaces.get(workspaceId)?.rows
      return [...new Set(ids)].flatMap(id => {
        const row = rows?.get(id)
        return row?.item && isThere(row.expiresAt, valid) ? [{ ...row.item, expiresAt: row.expiresAt }] : []
      })
    },
    renew(workspaceId, ids, times) {
      const fault = faultOfRenewal(times)
      if (fault) throw fault
      const rows = workspaces.get(workspaceId)?.rows
      for (const id of ids) {
        const row = rows?.get(id)
        if (!row) continue
        rows?.delete(id)
        rows?.set(id, { ...row, expiresAt: times.until })
      }
    },
  }
}
