import type { Caller } from '../access/caller.ts'
import type { Stamp } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { startFold } from '../protocol/fold.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { Source } from '../protocol/source.ts'
import { unfold } from '../protocol/unfold.ts'
import { type Cancellation, createCancellation } from '../runtime/cancellation.ts'
import type { Clock } from '../runtime/ports.ts'
import { iteratorOf } from '../runtime/source.ts'
import { allFailed } from '../upstream/error-message.ts'
import type { EventBatch } from '../upstream/event-batches.ts'
import { sourceOfBatches } from '../upstream/event-batches.ts'
import type { EarlyAdmission } from './admission/early-admission.ts'
import type { ResponseStream } from './response/response-stream.ts'

/** The options of `gateway.infer`. */
export interface CallOptions {
  readonly caller: Caller
  /** Fires when the client disconnects. */
  readonly signal?: AbortSignal
  /** Reads a header of the client's request by its lower-case name; headers that name a session are read here. */
  readonly header?: (name: string) => string | undefined
  /**
   * Default: a new UUID. Also the id of the hold, the ledger entry and the usage row, each of which exists once per id: never
   * let a client choose it, or its second request is settled as the first.
   */
  readonly requestId?: string
  /** What `gateway.admit` gave for this request, under the same `requestId`: rates and slot are taken already. */
  readonly admission?: EarlyAdmission
  /** Called with the bytes of memory of the kept items that the request refers to, before they take part in it. Throws to refuse it. */
  readonly claimMemory?: (bytes: number) => void
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
  readonly committed: Promise<unknown>
  /** Pushes events, one batch per upstream read. Fails only before commit: a later failure is a `finished` event. `cancel()` disconnects. */
  events(): Source<readonly InferenceEvent[]>
  /** The same events, pulled. `return()` disconnects. */
  batches(): AsyncIterator<readonly InferenceEvent[], undefined>
  whole(): Promise<InferenceResponse>
  /** Leaves, and resolves once everything is settled: up to some seconds later. */
  leave(): Promise<void>
  /**
   * A promise that resolves once the items of the answer are in the storage, so that the next request can refer to them: encode the
   * end of the answer, and wait for it before sending that end. It never rejects. Undefined, or absent: there is nothing to wait for.
   */
  readonly kept?: (() => Promise<void> | undefined) | undefined
  /** Our id at once; provider and warnings once committed; cost once finished. */
  stamp(): Stamp
}

/** An answer that has begun: settled already where it is whole, at its end where it is a stream. */
export type OpenedReply = { readonly response: InferenceResponse } | { readonly stream: ResponseStream }

/** Leaves an answer once it has begun. Resolves when it is settled, also if it never began. */
export const leaveReply = (opened: Promise<OpenedReply>): Promise<void> =>
  opened.then(
    reply => ('stream' in reply ? reply.stream.leave() : undefined),
    () => {},
  )

export interface ReplyContext {
  readonly stamp: () => Stamp
  readonly kept?: Reply['kept']
  readonly cancellation: Cancellation
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>
}

/** The rejection of `opened` is handled elsewhere. */
export function replyOf(opened: Promise<OpenedReply>, { stamp, kept, cancellation, clock }: ReplyContext): Reply {
  let isTaken = false
  const take = (): void => {
    if (isTaken) throw readTwice()
    isTaken = true
  }
  const events = (): Source<EventBatch> => {
    take()
    return eventsOf(opened, { cancellation, clock })
  }
  const batches = (): AsyncIterator<EventBatch, undefined> => {
    const iterator = iteratorOf(events())
    return {
      next: () => iterator.next(),
      async return() {
        cancellation.cancel('client_left')
        const reply = await opened.catch(() => undefined)
        if (reply && 'stream' in reply) {
          const leaving = reply.stream.leave()
          // The caller does not wait for what is read on for its usage.
          if (reply.stream.isDraining()) leaving.catch(() => {})
          else await leaving
        }
        await iterator.return?.()
        return { done: true, value: undefined }
      },
    }
  }
  return {
    committed: opened,
    events,
    batches,
    stamp,
    kept,
    leave() {
      cancellation.cancel('client_left')
      return leaveReply(opened)
    },
    whole() {
      if (isTaken) return Promise.reject(readTwice())
      isTaken = true
      return opened.then(reply => ('stream' in reply ? gathered(reply.stream).then(orFailure) : orFailure(reply.response)))
    },
    [Symbol.asyncIterator]() {
      const source = batches()
      return leavable(oneByOne(source), source)
    },
  }
}

const readTwice = (): TypeError =>
  new TypeError('This reply has already been read. Keep the result of the first read, or call `infer` again.')

function orFailure(response: InferenceResponse): InferenceResponse {
  if (response.outcome.status === 'failed') throw allFailed([response.outcome.error])
  return response
}

/** The events of an answer that may not have begun. */
function eventsOf(opened: Promise<OpenedReply>, { cancellation, clock }: Pick<ReplyContext, 'cancellation' | 'clock'>): Source<EventBatch> {
  let source: Source<EventBatch> | undefined
  let isPaused = false
  let isCancelled = false
  return {
    read(sink) {
      opened.then(
        reply => {
          if (isCancelled) return
          source = 'stream' in reply ? reply.stream : sourceOfBatches(unfold(reply.response), clock)
          if (isPaused) source.pause()
          source.read(sink)
        },
        error => {
          if (!isCancelled) sink.fail(error)
        },
      )
    },
    pause() {
      isPaused = true
      source?.pause()
    },
    resume() {
      isPaused = false
      source?.resume()
    },
    cancel() {
      isCancelled = true
      source?.cancel()
      cancellation.cancel('client_left')
    },
  }
}

function gathered(stream: ResponseStream): Promise<InferenceResponse> {
  const folding = startFold()
  return new Promise((resolve, reject) => {
    stream.read({
      next: batch => batch.forEach(folding.add),
      end: () => resolve(folding.response()),
      fail: reject,
    })
  })
}

async function* oneByOne(batches: AsyncIterator<EventBatch, undefined>): AsyncGenerator<InferenceEvent, void, undefined> {
  try {
    for (let step = await batches.next(); !step.done; step = await batches.next()) yield* step.value
  } finally {
    await batches.return?.()
  }
}

/**
 * A generator over a source, whose `return` ends the source first. A generator alone runs no `finally` when it is ended before its
 * first read, and none while it waits for one.
 */
export function leavable<T>(
  values: AsyncGenerator<T, void, undefined>,
  source: AsyncIterator<unknown, undefined>,
): AsyncIterator<T, void, undefined> {
  return {
    next: () => values.next(),
    async return() {
      await source.return?.()
      return values.return()
    },
  }
}

/** A reply that was refused before it began. */
export function refusedReply(error: Error, clock: ReplyContext['clock']): Reply {
  const refused = Promise.reject(error)
  refused.catch(() => {})
  const at: Stamp = { id: '', model: '', created_at: 0, itemId: prefix => prefix, warnings: [] }
  return replyOf(refused, { stamp: () => at, cancellation: createCancellation(), clock })
}
