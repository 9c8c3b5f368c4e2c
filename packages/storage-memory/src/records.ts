import {
  type Change,
  type Conflict,
  type CreditEntry,
  faultOfChange,
  faultOfExpiry,
  faultOfSums,
  faultOfUse,
  type RecordPut,
  type RecordQuery,
  type RecordStore,
  type StoredRecord,
} from '@signalbox/storage'
import type { MemoryAudit } from './audit.ts'
import type { CreditSums, MemoryLedger } from './ledger.ts'

/** What one commit writes into beside the records. */
export interface RecordPorts {
  readonly audit: MemoryAudit
  readonly ledger: MemoryLedger
}

/** Records by kind. `memoryRecords({ audit, ledger }).find('key', 'ws_1', 'key_1')` */
export function memoryRecords({ audit, ledger }: RecordPorts): RecordStore {
  const kinds = new Map<string, Shelf>()
  const shelfOf = (kind: string): Shelf => {
    const known = kinds.get(kind)
    if (known) return known
    const shelf: Shelf = { byId: new Map(), idByName: new Map() }
    kinds.set(kind, shelf)
    return shelf
  }
  return {
    commit(change) {
      const fault = faultOfChange(change)
      if (fault) throw fault
      const { puts = [], removals = [], credits = [], audit: rows = [] } = change
      const conflict = conflictOf(change, { shelfOf, audit, ledger })
      if (conflict) return conflict
      for (const removal of removals) takeOut(shelfOf(removal.kind), removal.id)
      for (const put of puts) putIn(shelfOf(put.kind), put)
      for (const credit of credits) ledger.creditNow(credit)
      audit.append(rows)
      return undefined
    },
    find(kind, workspaceId, id) {
      const found = shelfOf(kind).byId.get(id)
      return found?.workspaceId === workspaceId ? { ...found } : undefined
    },
    findByName(kind, name) {
      const { byId, idByName } = shelfOf(kind)
      const id = idByName.get(name)
      const found = id === undefined ? undefined : byId.get(id)
      return found && { ...found }
    },
    list: query => listed(shelfOf(query.kind).byId, query),
    touch(kind, uses) {
      for (const use of uses) {
        const fault = faultOfUse(use)
        if (fault) throw fault
      }
      const { byId } = shelfOf(kind)
      for (const { id, at } of uses) {
        const found = byId.get(id)
        if (found && at > (found.usedAt ?? Number.NEGATIVE_INFINITY)) byId.set(id, { ...found, usedAt: at })
      }
    },
    expire(at, most) {
      const fault = faultOfExpiry(at)
      if (fault) throw fault
      let gone = 0
      for (const shelf of kinds.values()) {
        for (const { id, expiresAt } of shelf.byId.values()) {
          if (gone >= most) return gone
          if (expiresAt === undefined || expiresAt > at) continue
          takeOut(shelf, id)
          gone += 1
        }
      }
      return gone
    },
  }
}

interface Shelf {
  /** In the order of their making: a row that changes keeps its place. */
  readonly byId: Map<string, StoredRecord>
  readonly idByName: Map<string, string>
}

function listed(rows: ReadonlyMap<string, StoredRecord>, { workspaceId, groups, after, limit }: RecordQuery): readonly StoredRecord[] {
  const found: StoredRecord[] = []
  let reached = after === undefined
  for (const row of rows.values()) {
    if (found.length >= limit) break
    const isIn =
      (workspaceId === undefined || row.workspaceId === workspaceId) &&
      (groups === undefined || (row.group !== undefined && groups.includes(row.group)))
    if (reached && isIn) found.push({ ...row })
    reached ||= row.id === after && (workspaceId === undefined || row.workspaceId === workspaceId)
  }
  return found
}

interface Looking extends RecordPorts {
  readonly shelfOf: (kind: string) => Shelf
}

/** The first thing that is not as the change expects it. Names that it gives up itself are free. */
function conflictOf(
  { puts = [], removals = [], credits = [], audit: rows = [] }: Change,
  { shelfOf, audit, ledger }: Looking,
): Conflict | undefined {
  const given = new Set<string>()
  for (const { kind, workspaceId, id, version } of [...removals, ...puts]) {
    const row = shelfOf(kind).byId.get(id)
    const isExpected = version === 0 ? row === undefined : row?.version === version && row.workspaceId === workspaceId
    if (!isExpected) return { on: 'version', kind, id }
    if (row?.name !== undefined) given.add(JSON.stringify([kind, row.name]))
  }
  const taken = new Set<string>()
  for (const { kind, name } of puts) {
    if (name === undefined) continue
    const key = JSON.stringify([kind, name])
    if (taken.has(key) || (shelfOf(kind).idByName.has(name) && !given.has(key))) return { on: 'name', kind, name }
    taken.add(key)
  }
  const conflict = conflictOfCredits(credits, ledger)
  if (conflict) return conflict
  const [first] = rows
  if (first && !audit.follows(first)) return { on: 'audit', workspaceId: first.workspaceId }
  return undefined
}

/** A change may credit an account more than once: the earlier amounts count for the later ones. */
function conflictOfCredits(credits: readonly CreditEntry[], ledger: RecordPorts['ledger']): Conflict | undefined {
  const sums = new Map<string, CreditSums>()
  for (const [index, entry] of credits.entries()) {
    const { account, id, amount } = entry
    if (ledger.hasCredit(account, id) || credits.findIndex(other => other.account === account && other.id === id) < index)
      return { on: 'credit', account, id }
    const { balance, credited } = sums.get(account) ?? ledger.sumsOf(account)
    if (faultOfSums({ balance, credited }, entry)) return { on: 'sum', account, id }
    sums.set(account, { balance: balance + amount, credited: credited + amount })
  }
  return undefined
}

function takeOut({ byId, idByName }: Shelf, id: string): void {
  const name = byId.get(id)?.name
  if (name !== undefined && idByName.get(name) === id) idByName.delete(name)
  byId.delete(id)
}

function putIn({ byId, idByName }: Shelf, put: RecordPut): void {
  const before = byId.get(put.id)
  if (before?.name !== undefined && idByName.get(before.name) === put.id) idByName.delete(before.name)
  if (put.name !== undefined) idByName.set(put.name, put.id)
  byId.set(put.id, { ...put, version: put.version + 1, ...(before?.usedAt !== undefined && { usedAt: before.usedAt }) })
}
