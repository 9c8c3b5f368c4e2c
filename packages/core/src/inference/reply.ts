import type { Caller } from '../access/caller.ts'
import { allFailed } from '../execution/told.ts'
import type { Metered } from '../metering/meter.ts'
import type { Stamp } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { startFold } from '../protocol/fold.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import { type Ending, makeEnding } from '../runtime/ending.ts'
import type { EarlyAdmission } from './early-admission.ts'

export interface CallOptions {
  readonly caller: Caller
  /** Fires when the caller has left. */
  readonly signal?: AbortSignal
  /**
   * Default: a new UUID. Also the id of the hold, the ledger entry and the usage row, each of which exists once per id: never
   * let a client choose it, or its second request is settled as the first.
   */
  readonly requestId?: string
  /** What `gateway.admit` gave for this request, under the same `requestId`: rates and slot are taken already. */
  readonly admission?: EarlyAdmission
  /**
   * Where a runtime may freeze after an answer: takes a promise that lasts for as long as the settlement has to wait for the
   * store. Called only then.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/**
 * One answer, read one way, once.
 *
 * @example
 * for await (const event of gateway.infer(request, { caller })) if (event.type === 'delta') show(event.delta)
 * const response = await gateway.infer(request, { caller }).whole()
 */
export interface Reply extends AsyncIterable<InferenceEvent> {
  /** Resolves at first content, when no other provider can step in any more. Rejects with the GatewayError that ends the request, or with what `prepare` threw. */
  readonly committed: Promise<void>
  /** Events as they come, one batch per upstream read. After commit it does not reject: a break is a `finished` event that says so. `return()` leaves. */
  batches(): AsyncIterator<readonly InferenceEvent[], undefined>
  whole(): Promise<InferenceResponse>
  /** Leaves, and resolves once everything is settled: up to some seconds later. */
  leave(): Promise<void>
  /** Our id at once; provider and warnings once committed; cost once finished. */
  stamp(): Stamp
}

export interface Replying {
  readonly stamp: () => Stamp
  readonly ending: Ending
}

/** One answer, read either way, once. */
export function replyOf(opened: Promise<Metered>, { stamp, ending }: Replying): Reply {
  const committed = opened.then(metered => {
    // Nobody may be reading when the caller leaves; the books are closed all the same. A gateway that closes is another
    // matter: the caller is still there, and reads how it ends.
    ending.onEnd(() => {
      if (ending.why === 'client_left') metered.leave().catch(() => {})
    })
  })
  committed.catch(() => {})
  let taken = false
  const take = (): void => {
    if (taken) throw new TypeError('This reply is being read already. Keep what the first reading gave, or call infer again.')
    taken = true
  }
  const batches = (): AsyncIterator<readonly InferenceEvent[], undefined> => {
    take()
    let metered: Metered | undefined
    return {
      next() {
        if (metered) return metered.events.next()
        return opened.then(open => {
          metered = open
          return open.events.next()
        })
      },
      async return() {
        ending.end('client_left')
        const left = await opened.catch(() => undefined)
        const leaving = left?.leave()
        // What is read on for its usage keeps nobody waiting.
        if (!left?.isDraining()) await leaving
        return { done: true, value: undefined }
      },
    }
  }
  return {
    committed,
    batches,
    stamp,
    leave() {
      ending.end('client_left')
      return opened.then(
        metered => metered.leave(),
        () => {},
      )
    },
    async whole() {
      take()
      const events = (await opened).events
      const folding = startFold()
      for (let step = await events.next(); !step.done; step = await events.next()) for (const event of step.value) folding.add(event)
      const response = folding.response()
      if (response.outcome.status === 'failed') throw allFailed([response.outcome.error])
      return response
    },
    [Symbol.asyncIterator]() {
      const source = batches()
      return leavable(oneByOne(source), source)
    },
  }
}

async function* oneByOne(batches: AsyncIterator<readonly InferenceEvent[], undefined>): AsyncGenerator<InferenceEvent, void, undefined> {
  try {
    for (let step = await batches.next(); !step.done; step = await batches.next()) yield* step.value
  } finally {
    await batches.return?.()
  }
}

/**
 * What is told of a source, and left together with it: a generator alone does not hear of its leaving before its first read,
 * nor while it waits for one.
 */
export function leavable<T>(
  told: AsyncGenerator<T, void, undefined>,
  source: AsyncIterator<unknown, undefined>,
): AsyncIterator<T, void, undefined> {
  return {
    next: () => told.next(),
    async return() {
      await source.return?.()
      return told.return()
    },
  }
}

/** A reply that was refused before it began. */
export function refusedReply(error: Error): Reply {
  const refused = Promise.reject(error)
  refused.catch(() => {})
  const at: Stamp = { id: '', model: '', created_at: 0, itemId: prefix => prefix, warnings: [] }
  return replyOf(refused, { stamp: () => at, ending: makeEnding() })
}
