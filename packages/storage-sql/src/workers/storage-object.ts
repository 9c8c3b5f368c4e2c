import type { Storage } from '@signalbox/storage'
import { type DurableObjectStorage, durableObjectStorage } from '../durable-object.ts'
import { verbs } from './verbs.ts'
import { type Call, decode, encode, type Outcome } from './wire.ts'

/** What is used of `ctx` of a Durable Object. */
export interface ObjectState {
  readonly storage: DurableObjectStorage
}

/**
 * The Durable Object in which `workersStorage` keeps everything. A Worker exports it, and its configuration names it as a class with
 * SQLite storage (`new_sqlite_classes`). It has no address of its own: only Workers that are bound to it reach it.
 *
 * @example export { StorageObject } from '@signalbox/storage-sql/workers'
 */
export class StorageObject {
  readonly #state: ObjectState
  #storage: Storage | undefined

  constructor(state: ObjectState) {
    this.#state = state
  }

  /** Answers one call of `workersStorage`. The platform sends no answer before what it tells of is durable. */
  async fetch(request: Request): Promise<Response> {
    return new Response(encode(await this.#outcomeOf(await request.text())))
  }

  async #outcomeOf(text: string): Promise<Outcome> {
    try {
      this.#storage ??= durableObjectStorage(this.#state.storage)
      return { value: await run(this.#storage, decode(text) as Call) }
    } catch (error) {
      return { error: { isRange: error instanceof RangeError, message: error instanceof Error ? error.message : String(error) } }
    }
  }
}

function run(storage: Storage, { store, verb, args }: Call): unknown {
  if (store === '' && verb === 'ping') return storage.ping()
  const known = Object.hasOwn(verbs, store) && Object.hasOwn(verbs[store as keyof typeof verbs], verb)
  const target = known ? (storage as unknown as Stores)[store] : undefined
  const method = target?.[verb]
  if (!target || !method) {
    throw new Error(`StorageObject: no verb ${store}.${verb}. Deploy the Worker and its object from the same version of Signalbox.`)
  }
  return method.apply(target, store === 'ledger' ? args.map(withJournals) : [...args])
}

type Stores = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>>

/** Journals cross as text; stores call them. */
function withJournals(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(withJournals)
  if (typeof argument !== 'object' || argument === null || !('journal' in argument)) return argument
  const { journal } = argument
  return { ...argument, journal: () => String(journal) }
}
