import type { InferenceEvent, InferenceResponse, ResponseMetadata, Source } from '@signalbox/dialects/protocol'
import { startFold, unfold } from '@signalbox/dialects/protocol'
import type { Caller } from '../access/caller.ts'
import { type Cancellation, createCancellation } from '../runtime/cancellation.ts'
import type { ClaimMemory, Clock } from '../runtime/ports.ts'
import { iteratorOf, sourceOf } from '../runtime/source.ts'
import { allFailedError } from '../upstream/error-message.ts'
import { batchesOf, type EventBatch } from '../upstream/event-batches.ts'
import type { EarlyAdmission } from './admission/early-admission.ts'
import type { ResponseStream } from './response/response-stream.ts'

/** The options of `gateway.infer`. */
export interface CallOptions {
  readonly caller: Caller
  /** Fires when the client disconnects. */
  readonly signal?: AbortSignal
  /** Returns a header of the client's request by its lower-case name. Used for headers that name a session. */
  readonly header?: (name: string) => string | undefined
  /**
   * Default: a new UUID. Also the id of the hold, the ledger entry and the usage row, each of which is unique per id. Never let a client
   * choose it: a second request with the same id would be settled as the first.
   */
  readonly requestId?: string
  /** The result of `gateway.admit` for the same `requestId`, which has already taken the slot and counted the request. */
  readonly admission?: EarlyAdmission | undefined
  /** Called with the bytes of memory of the kept items, and of the images and files at URLs, that the request refers to, before they are used. Throws to refuse the request. */
  readonly claimMemory?: ClaimMemory | undefined
  /**
   * Encodes a response that is not streamed, before the request is settled. If it throws, nothing is delivered: the request is settled as an
   * error, without a charge, and `whole()` rejects. Not called for a response that failed.
   */
  readonly encode?: ((response: InferenceResponse, metadata: ResponseMetadata) => void) | undefined
  /** Whether the body was large, so that the JSON for the provider is encoded with fewer copies in memory. Default: false. */
  readonly isLarge?: boolean
  /**
   * For runtimes that may freeze after a response. Called only if the settlement has to wait for the store, with a promise that resolves
   * when it is done.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/**
 * One response. Read it once, in one of these ways.
 *
 * @example
 * for await (const event of gateway.infer(request, { caller })) if (event.type === 'delta') show(event.delta)
 * const response = await gateway.infer(request, { caller }).whole()
 */
export interface Reply extends AsyncIterable<InferenceEvent> {
  /**
   * Resolves at first content, after which there is no fallback. Rejects with the GatewayError that ends the request, or with what
   * `transformRequest` threw.
   */
  readonly committed: Promise<unknown>
  /**
   * Pushes events, one batch per upstream read. Fails only before commit; a later failure is a `finished` event. `cancel()` disconnects.
   */
  events(): Source<readonly InferenceEvent[]>
  /** The same events as an iterator. `return()` disconnects. */
  batches(): AsyncIterator<readonly InferenceEvent[], undefined>
  whole(): Promise<InferenceResponse>
  /** Disconnects. Resolves once the request is settled, which may take several seconds. */
  leave(): Promise<void>
  /**
   * Notes that the response cannot be encoded for the client any further. Disconnect then. What was delivered before is charged, as for a
   * client that disconnects, but the request is settled as an error with this code. Absent: the request is settled already.
   */
  readonly fail?: (code: string) => void
  /**
   * Returns a promise that resolves once the items of the response are in the storage, so that the next request can refer to them. Encode
   * the end of the response, then await this before sending it. Never rejects. Undefined if there is nothing to wait for.
   */
  readonly kept?: (() => Promise<void> | undefined) | undefined
  /** Contains the id at once, provider and warnings once committed, and the cost once finished. */
  metadata(): ResponseMetadata
}

/** A response that has started. If it is not streamed, it is settled already; a stream is settled at its end. */
export type OpenedReply = { readonly response: InferenceResponse } | { readonly stream: ResponseStream }

/** Disconnects from a response once it has started. Resolves when the request is settled, even if no response started. */
export const leaveReply = (opened: Promise<OpenedReply>): Promise<void> =>
  opened.then(
    reply => ('stream' in reply ? reply.stream.leave() : undefined),
    () => {},
  )

export interface ReplyParts {
  readonly metadata: () => ResponseMetadata
  readonly kept?: Reply['kept']
  readonly cancellation: Cancellation
  readonly clock: Pick<Clock, 'setTimeout'>
}

/** The rejection of `opened` is handled elsewhere. */
export function replyOf(opened: Promise<OpenedReply>, { metadata, kept, cancellation, clock }: ReplyParts): Reply {
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
          // The caller does not wait for a response that is drained for its usage.
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
    metadata,
    kept,
    leave() {
      cancellation.cancel('client_left')
      return leaveReply(opened)
    },
    fail(code) {
      cancellation.failure ??= code
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
  if (response.outcome.status === 'failed') throw allFailedError([response.outcome.error])
  return response
}

/** The events of a response that may not have started yet. */
function eventsOf(opened: Promise<OpenedReply>, { cancellation, clock }: Pick<ReplyParts, 'cancellation' | 'clock'>): Source<EventBatch> {
  let source: Source<EventBatch> | undefined
  let isPaused = false
  let isCancelled = false
  return {
    read(sink) {
      opened.then(
        reply => {
          if (isCancelled) return
          source = 'stream' in reply ? reply.stream : sourceOf(batchesOf(unfold(reply.response), clock))
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
 * A generator over a source whose `return` ends the source first. A plain generator does not run its `finally` block if it is ended
 * before its first read or while a read is pending.
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

/** A reply to a request that was refused before it started. */
export function refusedReply(error: Error, clock: ReplyParts['clock']): Reply {
  const refused = Promise.reject(error)
  refused.catch(() => {})
  const at: ResponseMetadata = { id: '', model: '', created_at: 0, itemId: prefix => prefix, warnings: [] }
  return replyOf(refused, { metadata: () => at, cancellation: createCancellation(), clock })
}
