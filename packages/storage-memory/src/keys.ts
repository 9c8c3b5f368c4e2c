import { faultOfKey, faultOfKeyTime, type KeyStore, type StoredKey } from '@signalbox/storage'

/** Keys by id and by hash. `await memoryKeys().findByHash(sha256(secret))` */
export function memoryKeys(): KeyStore {
  const byId = new Map<string, StoredKey>()
  const idByHash = new Map<string, string>()
  const byHash = (hash: string): StoredKey | undefined => {
    const id = idByHash.get(hash)
    return id === undefined ? undefined : byId.get(id)
  }
  const ofWorkspace = (workspaceId: string, id: string): StoredKey | undefined => {
    const key = byId.get(id)
    return key?.workspaceId === workspaceId ? key : undefined
  }
  return {
    async insert(key) {
      const fault = faultOfKey(key)
      if (fault) throw fault
      if (byId.has(key.id)) throw new Error(`keys.insert: the id \`${key.id}\` is taken. Make the key with a new id.`)
      if (idByHash.has(key.hash)) throw new Error(`keys.insert: the hash of \`${key.id}\` is taken. Make the key with a new secret.`)
      byId.set(key.id, copy(key))
      idByHash.set(key.hash, key.id)
    },
    findByHash: async hash => copied(byHash(hash)),
    find: async (workspaceId, id) => copied(ofWorkspace(workspaceId, id)),
    list: async (workspaceId, options) =>
      Array.from(byId.values())
        .filter(key => key.workspaceId === workspaceId && (options?.includeRevoked || key.revokedAt === undefined))
        .sort((a, b) => a.createdAt - b.createdAt)
        .map(copy),
    async revoke({ workspaceId, id, at }) {
      const fault = faultOfKeyTime('revoke', at)
      if (fault) throw fault
      const key = ofWorkspace(workspaceId, id)
      if (!key) return undefined
      const revoked = key.revokedAt === undefined ? { ...key, revokedAt: at } : key
      byId.set(id, revoked)
      return copy(revoked)
    },
    async touch(id, at) {
      const fault = faultOfKeyTime('touch', at)
      if (fault) throw fault
      const key = byId.get(id)
      if (key && at > (key.lastUsedAt ?? Number.NEGATIVE_INFINITY)) byId.set(id, { ...key, lastUsedAt: at })
    },
  }
}

const copy = (key: StoredKey): StoredKey => ({ ...key, scopes: [...key.scopes] })
const copied = (key: StoredKey | undefined): StoredKey | undefined => key && copy(key)
