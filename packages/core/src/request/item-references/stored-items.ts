import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import type { ItemStore } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import type { ItemTimes, StoredItem } from '@signalbox/storage/items'
import { createLru } from '../../runtime/lru.ts'
import type { Clock, Logger } from '../../runtime/ports.ts'
import type { KeyRing, SealContext } from '../../runtime/seal.ts'
import { type KeptItems, maxIdLength, type StoredItemOptions } from './kept-items.ts'

export interface StoredItemPorts {
  readonly store: ItemStore
  readonly ring: KeyRing
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Maximum assumed difference in milliseconds between the clocks of processes. */
const maxClockSkewMs = 60_000
/** Milliseconds of its lifetime after which an item is renewed, so that not every step of an agent writes. */
const renewAfterMs = 60_000
/** Maximum number of remembered provider ids. */
const maxClaims = 20_000
/** Minimum length of provider ids that may be unique across all responses. */
const minUniqueLength = 24

const sealContext = (owner: string, id: string): SealContext => ({
  purpose: 'item',
  workspaceId: owner,
  bound: JSON.stringify(['item', owner, id]),
})

/** Seals and opens items for their owner and id. */
const itemSealerOf = (ring: KeyRing, maxBytes: number) => ({
  /** Skips items that have no id or are too large. */
  async seal(owner: string, items: readonly JsonObject[], expiresAt: number): Promise<readonly StoredItem[]> {
    const rows = await Promise.all(
      items.map(async (item): Promise<readonly StoredItem[]> => {
        const { id } = item
        if (typeof id !== 'string' || id === '' || id.length > maxIdLength) return []
        const body = await ring.seal(JSON.stringify(item), sealContext(owner, id))
        return body.length > maxBytes ? [] : [{ workspaceId: owner, id, expiresAt, body }]
      }),
    )
    return rows.flat()
  },
  /** Returns the item with its id. Skips an item that cannot be opened. */
  async open({ workspaceId: owner, id, body }: StoredItem): Promise<readonly (readonly [string, JsonObject])[]> {
    const text = await ring.open(body, sealContext(owner, id))
    const item: Json | undefined = text === undefined ? undefined : JSON.parse(text)
    return isObject(item) ? [[id, item]] : []
  },
})

/**
 * Keeps items in the storage, each sealed for its owner and id, so that a request to any process can refer to them. If the storage
 * fails, the items are lost but the response is not affected.
 *
 * @example
 * const items = keepItemsInStorage(defaultStoredItems, { store: storage.items, ring, clock, logger })
 * await items.keep('ws_1', response.output)
 */
export function keepItemsInStorage({ ttl, maxBytes }: Required<StoredItemOptions>, ports: StoredItemPorts): KeptItems {
  const { store, ring, clock, logger } = ports
  const { seal, open } = itemSealerOf(ring, maxBytes)
  const claimed = createLru<true>(maxClaims)
  const timesAt = (at: number): ItemTimes => ({ at, latest: at + ttl + maxClockSkewMs })
  const warn = (error: unknown): void =>
    logger.warn({ error: String(error) }, 'The items of a response could not be stored. Requests that refer to them will be refused.')
  const claim: KeptItems['claim'] = (owner, { id, type }) => {
    // Another process may send the same id to its client at this moment, so only reasoning and hosted tools keep provider ids.
    if (type === 'message' || type === 'function_call' || id.length < minUniqueLength || id.length > maxIdLength) return false
    // One id that a database refuses would keep all items of its response from being stored.
    if (id.includes('\0') || !id.isWellFormed()) return false
    const name = JSON.stringify([owner, id])
    if (claimed.has(name)) return false
    claimed.set(name, true)
    return true
  }
  return {
    ttl,
    isStored: true,
    claim,
    claimToKeep: claim,
    async keep(owner, items) {
      try {
        const now = clock.now()
        const rows = await seal(owner, items, now + ttl)
        if (rows.length > 0) await store.put(rows, maxBytes, timesAt(now))
      } catch (error) {
        warn(error)
      }
    },
    async find(owner, ids) {
      const now = clock.now()
      const rows = await store.find(owner, ids, timesAt(now))
      const old = rows.filter(({ expiresAt }) => expiresAt < now + ttl - Math.min(renewAfterMs, ttl / 2)).map(({ id }) => id)
      if (old.length > 0) promised(() => store.renew(owner, old, { until: now + ttl, at: now })).catch(warn)
      return new Map((await Promise.all(rows.map(open))).flat())
    },
  }
}
