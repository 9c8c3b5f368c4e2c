import type { Storage } from '@signalbox/storage'
import { verbs } from './workers/verbs.ts'
import { type CallOutcome, fromWire, type StoreCall, toWire } from './workers/wire.ts'

export { type ObjectState, StorageObject } from './workers/storage-object.ts'

/** What is used of a binding to a class of Durable Objects. */
export interface ObjectNamespace<Id = unknown> {
  idFromName(name: string): Id
  get(id: Id): { fetch(url: string, init: { method: string; body: string; signal: AbortSignal }): Promise<Response> }
}

/** Options of `workersStorage`. */
export interface WorkersStorageOptions {
  /** The binding to `StorageObject`. */
  readonly objects: ObjectNamespace<never>
  /** The name of the object; Workers that name the same one share what is in it. Default `signalbox`. */
  readonly name?: string
  /**
   * Keeps usage rows and items, which are most of what is kept: `d1Storage(env.DB)`. Records, money, limits and the audit log stay in
   * the object, since one change may touch several of them and is applied as a whole. Default: the object keeps everything.
   */
  readonly rows?: Pick<Storage, 'usage' | 'items' | 'ping' | 'close'>
  /** Milliseconds after which a method fails. Default 10,000. */
  readonly timeoutMs?: number
}

/**
 * Opens a storage for a Worker: one Durable Object, which does one call after the other, so that limits and credit are exact however
 * many Workers call at once and wherever they run. Every method is one call to the object.
 *
 * @example
 * export { StorageObject } from '@signalbox/storage-sql/workers'
 * const storage = workersStorage({ objects: env.STORAGE })
 */
export function workersStorage({ objects, name = 'signalbox', rows, timeoutMs = 10_000 }: WorkersStorageOptions): Storage {
  const send = sender({ namespace: objects as ObjectNamespace, name, timeoutMs })
  const inObject = Object.fromEntries(
    Object.entries(verbs).map(([store, named]) => [
      store,
      Object.fromEntries(
        Object.entries(named).map(([verb, tries]) => [
          verb,
          (...args: readonly unknown[]) => send({ method: `${store}.${verb}`, args: args.map(withoutJournals) }, tries),
        ]),
      ),
    ]),
  ) as unknown as Pick<Storage, keyof typeof verbs>
  return {
    ...inObject,
    ...(rows && { usage: rows.usage }),
    ...(rows?.items && { items: rows.items }),
    isShared: true,
    async ping() {
      await Promise.all([send({ method: 'ping', args: [] }, 'again'), rows?.ping()])
    },
    close: () => rows?.close(),
  }
}

/** What sends a call, and where to. */
interface Target {
  readonly namespace: ObjectNamespace
  readonly name: string
  readonly timeoutMs: number
}

function sender({ namespace, name, timeoutMs }: Target) {
  const ask = async (body: string): Promise<CallOutcome> => {
    // A stub belongs to the request that made it, and one whose connection broke stays broken.
    const stub = namespace.get(namespace.idFromName(name))
    const response = await stub.fetch('http://storage/', { method: 'POST', body, signal: AbortSignal.timeout(timeoutMs) })
    return fromWire(await response.text()) as CallOutcome
  }
  return async (call: StoreCall, tries: 'once' | 'again'): Promise<unknown> => {
    const body = toWire(call)
    const outcome = await ask(body)
      .catch((error: unknown) => {
        if (tries === 'again' && isConnectionBroken(error)) return ask(body)
        throw error
      })
      .catch(failedIn(name))
    if (!('error' in outcome)) return outcome.value
    const { isRange, message } = outcome.error
    throw isRange ? new RangeError(message) : new Error(message)
  }
}

/** As Cloudflare marks errors: a new connection may work, and more calls are not the problem. */
const isConnectionBroken = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'retryable' in error &&
  error.retryable === true &&
  !('overloaded' in error && error.overloaded)

const failedIn =
  (name: string) =>
  (error: unknown): never => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`workersStorage: the object "${name}" did not answer: ${reason}`, { cause: error })
  }

/** A journal is a function, and only its text can cross. */
function withoutJournals(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(withoutJournals)
  if (typeof argument !== 'object' || argument === null || !('journal' in argument)) return argument
  const { journal } = argument
  return typeof journal === 'function' ? { ...argument, journal: journal() } : argument
}
