import { faultOfKey, faultOfKeyTime, type KeyStore, type StoredKey } from '@signalbox/storage'
import type { Connection } from './group.ts'

interface Row {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly prefix: string
  readonly hash: string
  readonly scopes: string
  readonly rpm: number | null
  readonly created_at: number
  readonly created_by: string | null
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
}

const COLUMNS = 'id, workspace_id, name, prefix, hash, scopes, rpm, created_at, created_by, expires_at, revoked_at, last_used_at'

/** Keys in SQLite. `await sqliteKeys(connection).findByHash(sha256(secret))` */
export function sqliteKeys({ db, read, write }: Connection): KeyStore {
  const insert = db.prepare(`INSERT INTO keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const taken = db.prepare('SELECT id FROM keys WHERE id = ? OR hash = ? LIMIT 1')
  const byHash = db.prepare(`SELECT ${COLUMNS} FROM keys WHERE hash = ?`)
  const byId = db.prepare(`SELECT ${COLUMNS} FROM keys WHERE workspace_id = ? AND id = ?`)
  const list = db.prepare(`SELECT ${COLUMNS} FROM keys WHERE workspace_id = ? AND (revoked_at IS NULL OR ?) ORDER BY created_at, seq`)
  const revoke = db.prepare('UPDATE keys SET revoked_at = ? WHERE workspace_id = ? AND id = ? AND revoked_at IS NULL')
  const touch = db.prepare('UPDATE keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)')

  const find = (workspaceId: string, id: string): StoredKey | undefined => toKey(byId.get(workspaceId, id) as Row | undefined)

  return {
    insert(key) {
      const fault = faultOfKey(key)
      if (fault) return Promise.reject(fault)
      return write(() => {
        const other = taken.get(key.id, key.hash)
        if (other?.id === key.id) throw new Error(`keys.insert: the id \`${key.id}\` is taken. Make the key with a new id.`)
        if (other) throw new Error(`keys.insert: the hash of \`${key.id}\` is taken. Make the key with a new secret.`)
        insert.run(...toRow(key))
      })
    },
    findByHash: hash => read(() => toKey(byHash.get(hash) as Row | undefined)),
    find: (workspaceId, id) => read(() => find(workspaceId, id)),
    list: (workspaceId, options) =>
      read(() => list.all(workspaceId, options?.includeRevoked ? 1 : 0).flatMap(row => toKey(row as unknown as Row) ?? [])),
    revoke({ workspaceId, id, at }) {
      const fault = faultOfKeyTime('revoke', at)
      if (fault) return Promise.reject(fault)
      return write(() => {
        revoke.run(at, workspaceId, id)
        return find(workspaceId, id)
      })
    },
    touch(id, at) {
      const fault = faultOfKeyTime('touch', at)
      if (fault) return Promise.reject(fault)
      return write(() => {
        touch.run(at, id, at)
      })
    },
  }
}

const toRow = (key: StoredKey): readonly (string | number | null)[] => [
  key.id,
  key.workspaceId,
  key.name,
  key.prefix,
  key.hash,
  JSON.stringify(key.scopes),
  key.rpm ?? null,
  key.createdAt,
  key.createdBy ?? null,
  key.expiresAt ?? null,
  key.revokedAt ?? null,
  key.lastUsedAt ?? null,
]

const toKey = (row: Row | undefined): StoredKey | undefined =>
  row && {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    prefix: row.prefix,
    hash: row.hash,
    scopes: JSON.parse(row.scopes),
    ...(row.rpm !== null && { rpm: row.rpm }),
    createdAt: row.created_at,
    ...(row.created_by !== null && { createdBy: row.created_by }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
  }
