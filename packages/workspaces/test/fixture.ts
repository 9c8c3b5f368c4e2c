import { webClock } from '@signalbox/core/runtime'
import { createGateway, type Gateway } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'

export interface Fixture {
  readonly gateway: Gateway
  readonly storage: Storage
  /** Unix milliseconds; the test moves it. */
  readonly now: { ms: number }
  readonly invited: unknown[]
}

type Options = Parameters<typeof createGateway>[0]

/** A gateway without anybody to call, with the workspaces `w` and `other`. The same storage and time again: another process. */
export async function createFixture({
  storage = memoryStorage(),
  now = { ms: 1_767_225_600_000 },
  gateway: _,
  invited = [],
  ...options
}: Partial<Fixture & Options> = {}): Promise<Fixture> {
  const gateway = createGateway({
    providers: [],
    models: [],
    storage,
    clock: { ...webClock(), now: () => now.ms, monotonic: () => now.ms },
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    hooks: { onInvite: mail => void invited.push(mail) },
    ...options,
  })
  for (const id of ['w', 'other']) await gateway.workspaces.create({ id, name: id.toUpperCase() })
  return { gateway, storage, now, invited }
}

/** The code that a call ends in. */
export const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'nothing went wrong',
    (error: { readonly code?: string; readonly message: string }) => error.code ?? error.message,
  )
