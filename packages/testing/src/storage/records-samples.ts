import type { AuditRow } from '@signalbox/storage'
import type { Conflict, RecordPut, RecordStore, StoredRecord } from '@signalbox/storage/records'
import { T0 } from './subject.ts'

/** A new record of kind `thing` in `ws_1`, without optional fields. `put('t_1', { version: 3, name: 'its name' })` */
export const put = (id: string, fields: Partial<RecordPut> = {}): RecordPut => ({
  kind: 'thing',
  workspaceId: 'ws_1',
  id,
  version: 0,
  createdAt: T0,
  body: '{}',
  ...fields,
})

/** The record that a put creates. `expect(await records.find('thing', 'ws_1', 't_1')).toEqual(stored(put('t_1')))` */
export const stored = (given: RecordPut, fields: Partial<StoredRecord> = {}): StoredRecord => ({
  ...given,
  version: given.version + 1,
  ...fields,
})

/** Commits puts that must not conflict. `await keep(records, put('a'), put('b'))` */
export async function keep(records: RecordStore, ...puts: readonly RecordPut[]): Promise<void> {
  const conflict = await records.commit({ puts })
  if (conflict) throw new Error(`There is a conflict on ${JSON.stringify(conflict)}.`)
}

/** The conflict of a stale or taken record. `stale('t_1')` */
export const stale = (id: string): Conflict => ({ on: 'version', kind: 'thing', id })

/** Row `place` of a chain with simple text as hashes. `auditRow(1, { workspaceId: 'ws_2' })` */
export const auditRow = (place: number, fields: Partial<AuditRow> = {}): AuditRow => ({
  id: `audit_${place}`,
  workspaceId: 'ws_1',
  place,
  event: 'thing.changed',
  subjectType: 'thing',
  subjectId: 't_1',
  at: T0 + place,
  changes: '{}',
  previousHash: place === 1 ? '' : `hash ${place - 1}`,
  hash: `hash ${place}`,
  ...fields,
})
