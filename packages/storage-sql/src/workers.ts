import type { Storage } from '@signalbox/storage'
import type { LimitRefusal } from '@signalbox/storage/admission'
import { checkOptionTable, hasMethods, type OptionTableOf } from '@signalbox/storage/option-table'
import { settleInParts } from '@signalbox/storage/settlement'
import { ownVerbs, verbs } from './workers/verbs.ts'
import { type CallOutcome, fromWire, type StoreCall, toWire } from './workers/wire.ts'

export { type ObjectState, StorageObject } from './workers/storage-object.ts'

/** What is used of a binding to a class of Durable Objects; `DurableObjectNamespace` of Cloudflare's types is one. */
export interface ObjectNamespace {
  idFromName(name: string): object
  get(id: never): { fetch(url: string, init: { method: string; body: string; signal: AbortSignal }): Promise<Response> }
}

/** Options of `workersStorage`. */
export interface WorkersStorageOptions {
  /** The binding to `StorageObject`. */
  readonly objects: ObjectNamespace
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

const workersOptions: OptionTableOf<WorkersStorageOptions> = {
  objects: {
    takes: 'the binding to the Durable Object `StorageObject`',
    is: value => hasMethods(value, 'idFromName', 'get'),
    wayOut: 'Bind the Durable Object in `durable_objects` of wrangler.jsonc and pass it: `objects: env.STORAGE`.',
    isRequired: true,
  },
  name: 'text',
  rows: {
    takes: 'a storage',
    is: value => hasMethods(value, 'ping', 'close'),
    wayOut: 'Pass a D1 database as `rows: d1Storage(env.DB)`.',
  },
  timeoutMs: 'milliseconds',
}

/**
 * Opens a storage for a Worker: one Durable Object, which does one call after the other, so that limits and credit are exact however
 * many Workers call at once and wherever they run. Calls of one turn reach the object together, and it keeps all of them or
 * none if it stops.
 *
 * @throws {TypeError} An option is unknown or of another kind, or the binding is missing.
 * @example
 * export { StorageObject } from '@signalbox/storage-sql/workers'
 * const storage = workersStorage({ objects: env.STORAGE })
 */
export function workersStorage(options: WorkersStorageOptions): Storage {
  checkOptionTable({ call: 'workersStorage' }, options, workersOptions)
  const { objects, name = 'signalbox', rows, timeoutMs = 10_000 } = options
  const send = sender({ namespace: objects, name, timeoutMs })
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
    admit: admission => send({ method: 'admit', args: [withoutJournals(admission)] }, ownVerbs.admit) as Promise<LimitRefusal | undefined>,
    async settle(settlement) {
      if (rows) await settleInParts({ ...inObject, usage: rows.usage }, settlement)
      else await send({ method: 'settle', args: [settlement] }, ownVerbs.settle)
    },
    isShared: true,
    async ping() {
      await Promise.all([send({ method: 'ping', args: [] }, ownVerbs.ping), rows?.ping()])
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

/** A call that waits for the end of the turn. */
interface WaitingCall {
  readonly text: string
  readonly tries: 'once' | 'again'
  resolve(value: unknown): void
  reject(error: Error): void
}

type Send = (call: StoreCall, tries: 'once' | 'again') => Promise<unknown>

/** Sends calls in groups. A group is of one turn, so of one request: on Workers, requests share no I/O. */
function sender(target: Target): Send {
  let group: WaitingCall[] = []
  const flush = (): void => {
    const calls = group
    group = []
    ask(target, calls).then(
      outcomes => {
        for (const [at, call] of calls.entries()) finish(call, outcomes[at])
      },
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        const failure = new Error(`workersStorage: the object "${target.name}" did not answer: ${reason}`, { cause: error })
        for (const { reject } of calls) reject(failure)
      },
    )
  }
  return (call, tries) => {
    const text = toWire(call)
    return new Promise((resolve, reject) => {
      group.push({ text, tries, resolve, reject })
      if (group.length === 1) queueMicrotask(flush)
    })
  }
}

async function ask(target: Target, calls: readonly WaitingCall[]): Promise<readonly CallOutcome[]> {
  const body = `[${calls.map(({ text }) => text).join(',')}]`
  try {
    return await post(target, body)
  } catch (error) {
    if (isConnectionBroken(error) && calls.every(({ tries }) => tries === 'again')) return post(target, body)
    throw error
  }
}

async function post({ namespace, name, timeoutMs }: Target, body: string): Promise<readonly CallOutcome[]> {
  // A stub belongs to the request that made it, and one whose connection broke stays broken.
  const stub = namespace.get(namespace.idFromName(name) as never)
  const response = await stub.fetch('http://storage/', { method: 'POST', body, signal: AbortSignal.timeout(timeoutMs) })
  return fromWire(await response.text()) as readonly CallOutcome[]
}

function finish({ resolve, reject }: WaitingCall, outcome: CallOutcome = {}): void {
  if ('error' in outcome) reject(outcome.error.isRange ? new RangeError(outcome.error.message) : new Error(outcome.error.message))
  else resolve(outcome.value)
}

/** As Cloudflare marks errors: a new connection may work, and more calls are not the problem. */
const isConnectionBroken = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'retryable' in error &&
  error.retryable === true &&
  !('overloaded' in error && error.overloaded)

/** A journal is a function, and only its text can cross. */
function withoutJournals(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(withoutJournals)
  if (typeof argument !== 'object' || argument === null || !('journal' in argument)) return argument
  const { journal } = argument
  return typeof journal === 'function' ? { ...argument, journal: journal() } : argument
}
