import { type Api, createApi } from '@signalbox/api'
import { webClock } from '@signalbox/core/runtime'
import { createGateway, type Gateway, type GatewayOptions } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { onTestFinished } from 'vitest'

export interface Scene {
  readonly gateway: Gateway
  readonly api: Api
  readonly storage: Storage
  /** Every call of the gateway to its records, with its argument. */
  readonly asked: string[]
  /** Set: every verb of the records fails. */
  readonly down: { why?: Error }
  /** Unix milliseconds; the test moves it. */
  readonly now: { ms: number }
}

type Options = Partial<GatewayOptions> & { readonly now?: { ms: number } }

export const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const unlimited = { inferenceRpm: 1e9, managementReadsRpm: 1e9, managementWritesRpm: 1e9 }

/** A gateway whose store is watched, with the workspaces `w` and `other`. The same storage and time again: another process. */
export async function scene({ storage = memoryStorage(), now = { ms: Date.UTC(2026, 0, 1) }, ...options }: Options = {}): Promise<Scene> {
  const asked: string[] = []
  const down: Scene['down'] = {}
  const gateway = createGateway({
    providers: [],
    models: [],
    limits: unlimited,
    clock: { ...webClock(), now: () => now.ms, monotonic: () => now.ms },
    logger: quiet,
    ...options,
    storage: { ...storage, records: watched(storage.records, (verb, first) => note(verb, first)) },
  })
  const note = (verb: string, first: unknown): void => {
    if (down.why) throw down.why
    asked.push(`${verb} ${String(first)}`)
  }
  onTestFinished(() => gateway.close())
  for (const id of ['w', 'other']) await gateway.workspaces.create({ id, name: id.toUpperCase() })
  return { gateway, api: createApi(gateway), storage, asked, down, now }
}

/** The same store, with a hook that runs before each call; an error it throws is the error of the call. */
function watched<Store extends object>(store: Store, tell: (verb: string, first: unknown) => void): Store {
  return new Proxy(store, {
    get(target, name) {
      const verb: unknown = Reflect.get(target, name)
      if (typeof verb !== 'function') return verb
      return async (...given: readonly unknown[]) => {
        tell(String(name), given[0])
        return verb.apply(target, given)
      }
    },
  })
}

/** The result of a call: its value, or the code of its error. */
export const outcome = <T>(call: Promise<T>): Promise<T | string> =>
  call.catch((error: { readonly code?: string; readonly message: string }) => error.code ?? error.message)
