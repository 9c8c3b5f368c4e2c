import type { Item, JsonObject } from '@signalbox/dialects/protocol'
import { estimateMemory } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { createOwnerSizes } from '@signalbox/storage/owner-sizes'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/ports.ts'

// Clients that leave `store` unset take responses for stored and later send `item_reference`, as `createOpenAI` of the AI SDK does from the
// second turn on. Output items alone are kept, for the time of a conversation. A gateway id replaces a provider's id that another response
// has; processes that share a storage cannot know that of each other in time, so there messages and calls always get gateway ids.

/** Output items kept for a limited time, so that later requests of their owner (`itemOwnerOf`) can refer to them by id. */
export interface KeptItems {
  /** Milliseconds for which an item is kept after its response, and after each request that refers to it. */
  readonly ttl: number
  /** Whether items are written to the storage, in which case `keep` returns a promise. */
  readonly isStored: boolean
  /** Claims an id that a provider gave to an item. Returns false if another response may use it; then the item needs a gateway id. */
  claim(owner: string, claim: ItemClaim): boolean
  /** The same for an item that is passed to `keep` in the same turn of the event loop, which itself claims the id. */
  claimToKeep(owner: string, claim: ItemClaim): boolean
  /**
   * Keeps items in the client's format. Returns undefined if they are kept already; otherwise the promise resolves when they are kept or
   * the storage has failed, which is logged. `at`: monotonic milliseconds, if known.
   */
  keep(owner: string, items: readonly JsonObject[], at?: number): Promise<void> | undefined
  /** Returns items by id. Ids that are unknown or have expired are missing. */
  find(owner: string, ids: readonly string[]): Awaitable<ReadonlyMap<string, JsonObject>>
}

interface ItemClaim {
  readonly id: string
  readonly type: Item['type']
  /** A recent time in monotonic milliseconds, such as the start of the request. */
  readonly at: number
}

/** How the items of one response are kept. */
export interface KeptAnswer {
  readonly items: KeptItems
  readonly owner: string
  /** Pending while the items are being stored. */
  waiting: Promise<void> | undefined
}

/** The option `storedItems` of `createGateway`. */
export interface StoredItemOptions {
  /** Stores sealed items in the storage, where every process finds them. Default: false, each process keeps its items in memory. */
  readonly store?: boolean
  /** Milliseconds for which an item is kept after its response, and after each request that refers to it. Default: 3,600,000, an hour. */
  readonly ttl?: number
  /** Maximum bytes of items kept for one workspace or end user; least recently used items are removed first. Default: 33,554,432. */
  readonly maxBytes?: number
  /**
   * Maximum bytes of items that one process keeps in memory for all workspaces. Beyond them the largest workspaces lose items first. Default:
   * 67,108,864.
   */
  readonly maxTotalBytes?: number
}

/** The defaults of the option `storedItems`. */
export const defaultStoredItems: Required<StoredItemOptions> = {
  store: false,
  ttl: 3_600_000,
  maxBytes: 33_554_432,
  maxTotalBytes: 67_108_864,
}

interface KeptItem {
  readonly owner: string
  readonly id: string
  /** Undefined while a response in progress has claimed the id. */
  readonly item: JsonObject | undefined
  /** Monotonic milliseconds. */
  until: number
  /** Bytes of memory. */
  bytes: number
}

/** Maximum id length. Equals the limit for identifiers in requests, so a longer id could not be referred to. */
export const maxIdLength = 4_096
/** Overhead in bytes of an item's entries and of an owner's caches, in addition to the items themselves. */
const entryBytes = 480
const ownerBytes = 3_500
const claimBytes = (id: string): number => entryBytes + id.length
/** Maximum number of expired entries removed when another is added. */
const maxExpired = 100

/** Entries by owner and id, bounded in bytes per owner and in total. A large workspace does not remove the entries of a smaller one. */
interface Entries {
  readonly claim: KeptItems['claim']
  readonly isFree: KeptItems['claimToKeep']
  put(entry: Omit<KeptItem, 'bytes'>, bytes: number): void
  /** Returns the entry and marks it as most recently used. Undefined if there is none or it has expired. */
  use(owner: string, id: string, now: number): KeptItem | undefined
}

function boundedEntries({ ttl, maxTotalBytes, ...options }: Required<StoredItemOptions>): Entries {
  const maxBytes = Math.min(options.maxBytes, maxTotalBytes)
  const owners = new Map<string, LRUCache<string, KeptItem>>()
  const sizes = createOwnerSizes()
  // Each use moves an entry to the end, so the first one expires first.
  const all = new LRUCache<KeptItem, KeptItem>({
    maxSize: maxTotalBytes,
    disposeAfter(entry) {
      sizes.add(entry.owner, -entry.bytes)
      const mine = owners.get(entry.owner)
      if (mine?.peek(entry.id) === entry) mine.delete(entry.id)
      if (mine?.size === 0) owners.delete(entry.owner)
    },
  })
  const openOwner = (owner: string): LRUCache<string, KeptItem> => {
    const opened = new LRUCache<string, KeptItem>({ maxSize: maxBytes, disposeAfter: entry => all.delete(entry) })
    owners.set(owner, opened)
    return opened
  }
  // The latest time at which an item was kept or an id was claimed.
  let keptAt = 0
  // No entry expires before this time.
  let nextExpiry = 0
  const removeExpired = (): void => {
    for (let left = maxExpired; left > 0; left--) {
      const oldest = all.rkeys().next().value
      nextExpiry = oldest?.until ?? keptAt + ttl
      if (oldest === undefined || nextExpiry > keptAt) return
      all.delete(oldest)
    }
  }
  const removeFor = (owner: string): void => {
    const [oldest] = owners.get(sizes.largest(owner) ?? '')?.rvalues() ?? []
    if (oldest) all.delete(oldest)
  }
  const put: Entries['put'] = (entry, bytes) => {
    keptAt = Math.max(keptAt, entry.until - ttl)
    if (nextExpiry <= keptAt) removeExpired()
    if (bytes > maxBytes) {
      // Its id stays taken: a reference to it must not find an item of another response.
      if (entry.item) put({ ...entry, item: undefined }, claimBytes(entry.id))
      return
    }
    const most = Math.min(bytes + ownerBytes, maxTotalBytes)
    while (all.calculatedSize + most > maxTotalBytes) removeFor(entry.owner)
    const mine = owners.get(entry.owner) ?? openOwner(entry.owner)
    const kept = { ...entry, bytes }
    mine.set(entry.id, kept, { size: bytes })
    if (mine.size === 1) kept.bytes = most
    all.set(kept, kept, { size: kept.bytes })
    sizes.add(entry.owner, kept.bytes)
  }
  const isFree: Entries['isFree'] = (owner, { id }) => id.length <= maxIdLength && !owners.get(owner)?.has(id)
  return {
    put,
    isFree,
    claim(owner, claim) {
      if (!isFree(owner, claim)) return false
      const { id, at } = claim
      put({ owner, id, item: undefined, until: Math.max(keptAt, at) + ttl }, claimBytes(id))
      return true
    },
    use(owner, id, now) {
      const entry = owners.get(owner)?.get(id)
      if (!entry || entry.until > now) {
        if (entry) sizes.use(owner)
        return entry && all.get(entry)
      }
      all.delete(entry)
      return undefined
    },
  }
}

/**
 * Keeps items in the memory of this process: the objects created for the client, without copying their text.
 *
 * @example
 * const items = keepItemsInMemory({ ...defaultStoredItems, clock })
 * items.keep('ws_1', response.output)
 * const found = await items.find('ws_1', ['msg_1'])
 */
export function keepItemsInMemory({
  clock,
  ...options
}: Required<StoredItemOptions> & { readonly clock: Pick<Clock, 'monotonic'> }): KeptItems {
  const { ttl } = options
  const { claim, isFree, put, use } = boundedEntries(options)
  return {
    ttl,
    isStored: false,
    claim,
    claimToKeep: isFree,
    keep(owner, items, at = clock.monotonic()) {
      for (const item of items)
        if (typeof item.id === 'string' && item.id.length <= maxIdLength)
          put({ owner, id: item.id, item, until: at + ttl }, entryBytes + estimateMemory(item))
      return undefined
    },
    find(owner, ids) {
      const now = clock.monotonic()
      const found = new Map<string, JsonObject>()
      for (const id of ids) {
        const entry = use(owner, id, now)
        if (!entry?.item) continue
        entry.until = now + ttl
        found.set(id, entry.item)
      }
      return found
    },
  }
}
