import type { Storage } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import { type DurableObjectStorage, durableObjectStorage } from '../durable-object.ts'
import { ownVerbs, verbs } from './verbs.ts'
import { type CallOutcome, fromWire, type StoreCall, toWire } from './wire.ts'

/** What is used of `ctx` of a Durable Object. */
export interface ObjectState {
  readonly storage: DurableObjectStorage
}

/** An object of the class, as types of Cloudflare name it: `DurableObjectNamespace<StorageObject>`. */
export interface StorageObject {
  fetch(request: Request): Promise<Response>
  /** By this Cloudflare's types tell a Durable Object from other classes. No object has it. */
  readonly __DURABLE_OBJECT_BRAND: never
}

/**
 * The Durable Object in which `workersStorage` keeps everything. A Worker exports it, and its configuration names it as a class with
 * SQLite storage (`new_sqlite_classes`). It has no address of its own: only Workers that are bound to it reach it.
 *
 * @example export { StorageObject } from '@signalbox/storage-sql/workers'
 */
export const StorageObject: new (state: ObjectState) => StorageObject = class {
  /** For the compiler only. */
  declare readonly __DURABLE_OBJECT_BRAND: never
  readonly #answer: (text: string) => Promise<readonly CallOutcome[]>

  constructor(state: ObjectState) {
    this.#answer = answersOf(state)
  }

  /** Answers a group of calls of `workersStorage`. The platform sends no answer before what it tells of is durable. */
  async fetch(request: Request): Promise<Response> {
    return new Response(toWire(await this.#answer(await request.text())))
  }
}

function answersOf({ storage }: ObjectState): (text: string) => Promise<readonly CallOutcome[]> {
  let methods: ReadonlyMap<string, Method> | undefined
  const begin = ({ method, args }: StoreCall): unknown => {
    methods ??= methodsOf(durableObjectStorage(storage))
    const known = methods.get(method)
    if (!known) throw new Error(`no method ${method}. Deploy the Worker and its object from the same version of Signalbox.`)
    return known(...(method === 'admit' || method.startsWith('ledger.') ? args.map(withJournals) : args))
  }
  return text => {
    const calls = fromWire(text) as readonly StoreCall[]
    // Each is a transaction of its own within this one: one that fails undoes itself only, and an object that stops undoes all.
    const begun = storage.transactionSync(() => calls.map(call => promised(() => begin(call))))
    return Promise.all(begun.map(value => value.then(done => ({ value: done }), toFailure)))
  }
}

const toFailure = (error: unknown): CallOutcome => ({
  error: { isRange: error instanceof RangeError, message: error instanceof Error ? error.message : String(error) },
})

type Method = (...args: readonly unknown[]) => unknown

/** The methods that can be called, as `ledger.settle`. */
function methodsOf(storage: Storage): ReadonlyMap<string, Method> {
  const known = new Set(Object.entries(verbs).flatMap(([store, named]) => Object.keys(named).map(verb => `${store}.${verb}`)))
  const methods = Object.entries(storage).flatMap(([store, target]) =>
    Object.entries(target as object).map(([verb, method]) => [`${store}.${verb}`, method as Method] as const),
  )
  const own = Object.keys(ownVerbs).map(name => [name, storage[name as keyof typeof ownVerbs] as Method] as const)
  return new Map([...methods.filter(([name]) => known.has(name)), ...own])
}

/** Journals cross as text; stores call them. */
function withJournals(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(withJournals)
  if (typeof argument !== 'object' || argument === null || !('journal' in argument)) return argument
  const { journal } = argument
  return { ...argument, journal: () => String(journal) }
}
