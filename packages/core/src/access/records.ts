import type { Awaitable, RecordPut, RecordQuery, RecordStore, StoredRecord } from '@signalbox/storage'
import type { RecordRemoval } from '@signalbox/storage/records'
import type { Clock } from '../runtime/ports.ts'
import { orStoreDown } from '../runtime/store-down.ts'
import { withinStorageWait } from '../runtime/timers.ts'
import type { Kind, Kinds } from './kinds.ts'

/** A stored record with its parsed body. */
export interface TypedRecord<K extends Kind> extends Omit<StoredRecord, 'kind' | 'body'> {
  readonly kind: K
  readonly body: Kinds[K]
}

/** Typed access to the record store. If the store cannot be read or does not answer, the request ends with 503. */
export interface Records {
  find<K extends Kind>(kind: K, workspaceId: string, id: string): Promise<TypedRecord<K> | undefined>
  /** Finds a record by its name, which is unique for its kind across workspaces. */
  findByName<K extends Kind>(kind: K, name: string): Promise<TypedRecord<K> | undefined>
  list<K extends Kind>(kind: K, query: Omit<RecordQuery, 'kind'>): Promise<readonly TypedRecord<K>[]>
}

/**
 * @example
 * const key = await recordsOf(storage.records, clock).find('key', workspaceId, id)
 */
export function recordsOf(store: RecordStore, clock: Clock): Records {
  const read = <T>(ask: () => Awaitable<T>): Awaitable<T> => orStoreDown(() => withinStorageWait(ask(), clock))
  return {
    find: async (kind, workspaceId, id) => parseRecord(kind, await read(() => store.find(kind, workspaceId, id))),
    findByName: async (kind, name) => parseRecord(kind, await read(() => store.findByName(kind, name))),
    list: async (kind, query) => (await read(() => store.list({ ...query, kind }))).flatMap(row => parseRecord(kind, row) ?? []),
  }
}

const parseRecord = <K extends Kind>(kind: K, row: StoredRecord | undefined): TypedRecord<K> | undefined =>
  row && { ...row, kind, body: JSON.parse(row.body) }

/** Changes to a record that was read. */
export type RecordChanges<K extends Kind> = Partial<Pick<TypedRecord<K>, 'group' | 'name' | 'expiresAt'>> & {
  readonly body?: BodyChanges<K>
}

/** Changes to a body. A field set to undefined is removed. */
export type BodyChanges<K extends Kind> = { readonly [Field in keyof Kinds[K]]?: Kinds[K][Field] | undefined }

/** A new record, for a commit. */
export const newRecord = <K extends Kind>(
  kind: K,
  { body, ...record }: Omit<TypedRecord<K>, 'kind' | 'version' | 'usedAt'>,
): RecordPut => ({
  ...record,
  kind,
  version: 0,
  body: JSON.stringify(body),
})

/**
 * The record with changes applied; a body field set to undefined is removed. The store rejects it if the record has changed since it was
 * read.
 */
export function changedRecord<K extends Kind>({ usedAt: _, ...kept }: TypedRecord<K>, { body, ...changes }: RecordChanges<K>): RecordPut {
  return { ...kept, ...changes, body: JSON.stringify({ ...kept.body, ...body }) }
}

/** The removal of a record at the version that was read. */
export const recordRemoval = ({ kind, workspaceId, id, version }: TypedRecord<Kind>): RecordRemoval => ({ kind, workspaceId, id, version })
