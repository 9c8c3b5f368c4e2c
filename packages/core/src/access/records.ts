import type { RecordPut, RecordQuery, RecordRemoval, RecordStore, StoredRecord } from '@signalbox/storage'
import { orStoreDown } from '../errors/gateway-error.ts'
import type { Kind, Kinds } from './kinds.ts'

/** A record as it was read. */
export interface Kept<K extends Kind> extends Omit<StoredRecord, 'kind' | 'body'> {
  readonly kind: K
  readonly body: Kinds[K]
}

/** The records by kind, with what is in them. A store that cannot be read ends the request with 503. */
export interface Records {
  find<K extends Kind>(kind: K, workspaceId: string, id: string): Promise<Kept<K> | undefined>
  /** By the name that is its own among its kind, in whatever workspace. */
  named<K extends Kind>(kind: K, name: string): Promise<Kept<K> | undefined>
  list<K extends Kind>(kind: K, query: Omit<RecordQuery, 'kind'>): Promise<readonly Kept<K>[]>
}

/**
 * @example
 * const key = await recordsOf(storage.records).find('key', workspaceId, id)
 */
export const recordsOf = (store: RecordStore): Records => ({
  find: async (kind, workspaceId, id) => keptAs(kind, await orStoreDown(() => store.find(kind, workspaceId, id))),
  named: async (kind, name) => keptAs(kind, await orStoreDown(() => store.findByName(kind, name))),
  list: async (kind, query) => (await orStoreDown(() => store.list({ ...query, kind }))).flatMap(row => keptAs(kind, row) ?? []),
})

const keptAs = <K extends Kind>(kind: K, row: StoredRecord | undefined): Kept<K> | undefined =>
  row && { ...row, kind, body: JSON.parse(row.body) }

/** What is new of a record that is put in place of the one that was read. */
export type Changes<K extends Kind> = Partial<Pick<Kept<K>, 'group' | 'name' | 'expiresAt'>> & { readonly body?: BodyChanges<K> }

/** A field that is set to undefined goes. */
export type BodyChanges<K extends Kind> = { readonly [Field in keyof Kinds[K]]?: Kinds[K][Field] | undefined }

/** A record that was not there before. */
export const made = <K extends Kind>(kind: K, { body, ...record }: Omit<Kept<K>, 'kind' | 'version' | 'usedAt'>): RecordPut => ({
  ...record,
  kind,
  version: 0,
  body: JSON.stringify(body),
})

/** The same record, changed; a field of the body that is set to undefined goes. Refused by the store where somebody else changed it in between. */
export function changed<K extends Kind>({ usedAt: _, ...kept }: Kept<K>, { body, ...changes }: Changes<K>): RecordPut {
  return { ...kept, ...changes, body: JSON.stringify({ ...kept.body, ...body }) }
}

export const removed = ({ kind, workspaceId, id, version }: Kept<Kind>): RecordRemoval => ({ kind, workspaceId, id, version })
