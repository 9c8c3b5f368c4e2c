import type { Change, Conflict, CreditEntry, RecordPut, RecordQuery, RecordStore, StoredRecord } from '@signalbox/storage'
import { faultOfChange, faultOfExpiry, faultOfSums, faultOfUse } from '@signalbox/storage/faults'
import type { MemoryAudit } from './audit.ts'
import type { CreditSums, MemoryLedger } from './ledger.ts'

/** The other stores that a commit writes to. */
export interface RecordPorts {
  readonly audit: MemoryAudit
  readonly ledger: MemoryLedger
}

/** Records by kind. `memoryRecords({ audit, ledger }).find('key', 'ws_1', 'key_1')` */
export function memoryRecords({ audit, ledger }: RecordPorts): RecordStore {
  const kinds = new Map<string, RecordTable>()
  const tableOf = (kind: string): RecordTable => {
    const known = kinds.get(kind)
    if (known) return known
    const table: RecordTable = { byId: new Map(), idByName: new Map() }
    kinds.set(kind, table)
    return table
  }
  return {
    commit(change) {
      const fault = faultOfChange(change)
      if (fault) throw fault
      const { puts = [], removals = [], credits = [], audit: rows = [] } = change
      const conflict = conflictOf(change, { tableOf, audit, ledger })
      if (conflict) return conflict
      for (const removal of removals) removeRecord(tableOf(removal.kind), removal.id)
      for (const put of puts) putRecord(tableOf(put.kind), put)
      for (const credit of credits) ledger.creditNow(credit)
      audit.append(rows)
      return undefined
    },
    find(kind, workspaceId, id) {
      const found = tableOf(kind).byId.get(id)
      return found?.workspaceId === workspaceId ? { ...found } : undefined
    },
    findByName(kind, name) {
      const { byId, idByName } = tableOf(kind)
      const id = idByName.get(name)
      const found = id === undefined ? undefined : byId.get(id)
      return found && { ...found }
    },
    list: query => listRecords(tableOf(query.kind).byId, query),
    touch(kind, uses) {
      for (const use of uses) {
        const fault = faultOfUse(use)
        if (fault) throw fault
      }
      const { byId } = tableOf(kind)
      for (const { id, at } of uses) {
        const found = byId.get(id)
        if (found && at > (found.usedAt ?? Number.NEGATIVE_INFINITY)) byId.set(id, { ...found, usedAt: at })
      }
    },
    expire(at, limit) {
      const fault = faultOfExpiry(at)
      if (fault) throw fault
      let gone = 0
      for (const table of kinds.values()) {
        for (const { id, expiresAt } of table.byId.values()) {
          if (gone >= limit) return gone
          if (expiresAt === undefined || expiresAt > at) continue
          removeRecord(table, id)
          gone += 1
        }
      }
      return gone
    },
  }
}

interface RecordTable {
  /** In order of creation: a changed row keeps its position. */
  readonly byId: Map<string, StoredRecord>
  readonly idByName: Map<string, string>
}

function listRecords(rows: ReadonlyMap<string, StoredRecord>, { workspaceId, groups, after, limit }: RecordQuery): readonly StoredRecord[] {
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

interface ConflictContext extends RecordPorts {
  readonly tableOf: (kind: string) => RecordTable
}

/** The first conflict with the change. Names that the change itself frees may be taken. */
function conflictOf(
  { puts = [], removals = [], credits = [], audit: rows = [] }: Change,
  { tableOf, audit, ledger }: ConflictContext,
): Conflict | undefined {
  const freed = new Set<string>()
  for (const { kind, workspaceId, id, version } of [...removals, ...puts]) {
    const row = tableOf(kind).byId.get(id)
    const isExpected = version === 0 ? row === undefined : row?.version === version && row.workspaceId === workspaceId
    if (!isExpected) return { on: 'version', kind, id }
    if (row?.name !== undefined) freed.add(JSON.stringify([kind, row.name]))
  }
  const taken = new Set<string>()
  for (const { kind, name } of puts) {
    if (name === undefined) continue
    const key = JSON.stringify([kind, name])
    if (taken.has(key) || (tableOf(kind).idByName.has(name) && !freed.has(key))) return { on: 'name', kind, name }
    taken.add(key)
  }
  const conflict = conflictOfCredits(credits, ledger)
  if (conflict) return conflict
  const [first] = rows
  if (first && !audit.follows(first)) return { on: 'audit', workspaceId: first.workspaceId }
  return undefined
}

/** A change may credit an account more than once, so earlier amounts count for later ones. */
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

function removeRecord({ byId, idByName }: RecordTable, id: string): void {
  const name = byId.get(id)?.name
  if (name !== undefined && idByName.get(name) === id) idByName.delete(name)
  byId.delete(id)
}

function putRecord({ byId, idByName }: RecordTable, put: RecordPut): void {
  const before = byId.get(put.id)
  if (before?.name !== undefined && idByName.get(before.name) === put.id) idByName.delete(before.name)
  if (put.name !== undefined) idByName.set(put.name, put.id)
  byId.set(put.id, { ...put, version: put.version + 1, ...(before?.usedAt !== undefined && { usedAt: before.usedAt }) })
}
