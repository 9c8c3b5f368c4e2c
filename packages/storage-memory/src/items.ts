import type { ItemStore } from '@signalbox/storage'
import { faultOfItems, faultOfRenewal } from '@signalbox/storage/faults'
import type { ItemTimes, StoredItem } from '@signalbox/storage/items'
import { createOwnerSizes } from '@signalbox/storage/owner-sizes'

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
  const sizes = createOwnerSizes()
  const workspaces = new Map<string, WorkspaceItems>()
  let totalBytes = 0
  const remove = (workspaceId: string, mine: WorkspaceItems, id: string): ItemRow | undefined => {
    const row = mine.rows.get(id)
    sizes.add(workspaceId, -(row?.bytes ?? 0))
    mine.rows.delete(id)
    mine.bytes -= row?.bytes ?? 0
    totalBytes -= row?.bytes ?? 0
    return row
  }
  return {
    workspaces,
    totalBytes: () => totalBytes,
    largest: sizes.largest,
    /** Removes the oldest rows of a workspace, up to the first wanted one. */
    removeOldest(workspaceId: string, mine: WorkspaceItems, isWanted: (row: ItemRow) => boolean): void {
      for (const [id, row] of mine.rows) {
        if (isWanted(row)) break
        remove(workspaceId, mine, id)
      }
      if (mine.rows.size === 0) workspaces.delete(workspaceId)
    },
    add(item: StoredItem, valid: ItemTimes): WorkspaceItems {
      const { workspaceId, id, expiresAt, body } = item
      const mine = workspaces.get(workspaceId) ?? { rows: new Map(), bytes: 0 }
      const known = remove(workspaceId, mine, id)
      const isOther = known !== undefined && isThere(known.expiresAt, valid)
      const row: ItemRow = isOther ? { item: undefined, expiresAt, bytes: 0 } : { item: { ...item }, expiresAt, bytes: body.length }
      mine.rows.set(id, row)
      mine.bytes += row.bytes
      totalBytes += row.bytes
      sizes.add(workspaceId, row.bytes)
      workspaces.set(workspaceId, mine)
      return mine
    },
  }
}

/** Response items, at most `maxTotalBytes` of them. `memoryItems(1_000_000).find('ws_1', ['msg_1'], { at, latest })` */
export function memoryItems(maxTotalBytes: number): ItemStore {
  const { workspaces, totalBytes, largest, removeOldest, add } = itemRows()
  return {
    put(items, maxBytes, valid) {
      const fault = faultOfItems(items, maxBytes, valid)
      if (fault) throw fault
      for (const item of items) {
        const mine = add(item, valid)
        removeOldest(item.workspaceId, mine, row => isThere(row.expiresAt, valid) && mine.bytes <= maxBytes)
      }
      while (totalBytes() > maxTotalBytes) {
        const workspaceId = largest(items[0]?.workspaceId ?? '') ?? ''
        const mine = workspaces.get(workspaceId)
        if (!mine) return
        const { bytes } = mine
        removeOldest(workspaceId, mine, () => mine.bytes < bytes)
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
