import type { SpoolStore, Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'

/**
 * How calls end while a storage is away. `refusing`: at once, and nothing is done. `hanging`: not until it is back, and then they are
 * done. `mute`: they are done, and their answers are lost, which a driver notices by a timeout.
 */
export type Away = 'refusing' | 'hanging' | 'mute'

/** A storage of several processes that each may be cut off from it, with a spool for each. */
export interface Network {
  readonly storage: Storage
  /** The way of one process to the storage. */
  way(): Way
}

/** The way of one process. */
interface Way {
  readonly storage: Storage
  /** Lines of its spool. */
  readonly spooled: readonly string[]
  /** The names of calls made during the outage. */
  readonly calls: Map<string, number>
  cut(how: Away): void
  /** Those that hang are done now, in order. */
  join(): void
}

const lostAfterMs = 400
const stores = ['records', 'audit', 'counters', 'ledger', 'usage', 'routing', 'items'] as const

export function network(storage: Storage = memoryStorage()): Network {
  return { storage, way: () => wayTo(storage) }
}

function wayTo(storage: Storage): Way {
  let away: Away | undefined
  let hanging: (() => void)[] = []
  const calls = new Map<string, number>()
  const spooled: string[] = []
  const through = async (name: string, run: () => unknown): Promise<unknown> => {
    await undefined
    if (!away) return run()
    calls.set(name, (calls.get(name) ?? 0) + 1)
    if (away === 'refusing') throw new Error('connect ECONNREFUSED')
    if (away === 'mute') {
      run()
      await pause(lostAfterMs)
      throw new Error('The connection ended before the answer.')
    }
    return new Promise((resolve, reject) => {
      hanging.push(() => {
        try {
          resolve(run())
        } catch (error) {
          reject(error)
        }
      })
    })
  }
  const wrapped = (name: string, store: object): object =>
    new Proxy(store, {
      get(target, verb) {
        const method: unknown = Reflect.get(target, verb)
        if (typeof method !== 'function') return method
        return (...given: readonly unknown[]) => through(`${name}.${String(verb)}`, () => method.apply(target, given))
      },
    })
  const spool: SpoolStore = {
    append: lines => void spooled.push(...lines),
    clear: () => void spooled.splice(0),
    adopt: () => [],
  }
  return {
    storage: {
      ...storage,
      ...Object.fromEntries(stores.flatMap(name => (storage[name] ? [[name, wrapped(name, storage[name])]] : []))),
      spool,
      settle: settlement => through('settle', () => storage.settle(settlement)) as Promise<void>,
      isShared: true,
      ping: () => through('ping', () => storage.ping()) as Promise<void>,
      close: () => {},
    },
    spooled,
    calls,
    cut(how) {
      away = how
    },
    join() {
      away = undefined
      for (const run of hanging) run()
      hanging = []
    },
  }
}

export const pause = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))
