import type { InferenceRequest, ResponseMetadata, Usage } from '@signalbox/dialects/protocol'
import type { Trace } from '@signalbox/router/decision-log'
import { tagsOf } from '../access/tags.ts'
import type { Meter } from '../metering/meter.ts'
import type { Candidate, Plan } from '../routing/plan.ts'
import { createCancellation } from '../runtime/cancellation.ts'
import type { CallFacts } from '../runtime/ports.ts'
import { passToWaitUntil } from '../runtime/wait-until.ts'
import type { CommittedAttempt } from '../upstream/attempt.ts'
import type { Ticket } from './admission/admit.ts'
import { createJournal, type JournalProgress } from './admission/journal.ts'
import { leaseMs } from './admission/leases.ts'
import { type AdmissionWatch, watchAdmission } from './admission-watch.ts'
import type { Engine } from './engine.ts'
import type { PreparedRequest } from './prepare-request.ts'
import type { CallOptions } from './reply.ts'
import { createResponseMetadata, type MetadataFacts } from './response-metadata.ts'
import { type RunningRequest, removeRunning } from './running-requests.ts'
import { type Allowance, allowanceOf } from './settlement/running-cost.ts'

/** The options of a call whose request has an id. */
export type RunOptions = CallOptions & { readonly requestId: string }

/** The prompt's token counts for journals. Cached, because a journal is written every few seconds. */
interface JournaledInput {
  readonly sampled: number
  /** The provider's usage at the time of counting. */
  readonly stated: Usage | undefined
  readonly known: Usage | undefined
}

/** One request, from its arrival to its settlement: what is known of it so far, and its entry among the running requests. Each step takes it. */
export class RequestRun {
  readonly engine: Engine
  readonly originalRequest: InferenceRequest
  readonly options: RunOptions
  /** Unix milliseconds. */
  readonly at: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Cancelled when the client disconnects or the gateway closes. */
  readonly cancellation = createCancellation()
  /** What the reply shows of the response so far. */
  known: MetadataFacts = { warnings: [] }

  /** Undefined after admission: from then on, the attempts and the settlement limit their own waits. */
  admissionWatch: AdmissionWatch | undefined
  /** The deadline in monotonic milliseconds. Final when the request is prepared. */
  deadlineAt = 0

  // Set by `setPrepared`.
  facts!: CallFacts
  policy!: PreparedRequest['policy']
  request!: PreparedRequest['request']
  bounds!: PreparedRequest['bounds']
  inputTokens = 0
  /** Limited by admission to candidates that the workspace can afford. */
  plan!: Plan
  carried: PreparedRequest['carried']
  keepsItems = false
  hedge = false
  maxHedgeCost = 0
  cacheKey: string | undefined
  /** Maximum milliseconds for one attempt. */
  ceilingMs = 0
  /** Whether the client set a time limit shorter than the gateway's. */
  isCeilingChosen = false
  journal!: ReturnType<typeof createJournal>

  // Set by `setAdmitted`.
  ticket!: Ticket
  allowance!: Allowance

  /** The number of calls, including retries and fallbacks. */
  attempts = 0
  /** The candidate that was called last. */
  lastSent: Candidate | undefined
  /** Candidates that had accepted the request when it was cancelled there: they may bill it. */
  readonly discarded: Candidate[] = []
  /** The routing decisions. Undefined if they are not recorded, or routing had not started. */
  trace: (() => Trace) | undefined
  /** The attempt whose response the client receives. */
  committed: CommittedAttempt | undefined
  /** Undefined if no journal has been written since a provider was called. */
  journaled: JournaledInput | undefined
  /** Measures the response, once it has begun. */
  meter: Meter | undefined

  readonly #metadata: (known: MetadataFacts) => ResponseMetadata
  readonly #entry: RunningRequest
  /** Resolves the promise that was passed to `waitUntil`. */
  #onOver: (() => void) | undefined
  /** The timer of the request's own renewals. */
  #timer: unknown

  /** `leave` settles the request even if its response is not read to the end. */
  constructor(engine: Engine, originalRequest: InferenceRequest, options: RunOptions, leave: () => Promise<void>) {
    const { clock, running, timeouts, logger } = engine
    const { requestId, signal, waitUntil } = options
    const { cancellation } = this
    this.engine = engine
    this.originalRequest = originalRequest
    this.options = options
    this.at = clock.now()
    this.startedAt = clock.monotonic()
    const { at, startedAt } = this
    const deadlineMs = originalRequest.routing.deadline_ms ?? timeouts.deadlineMs
    this.admissionWatch = watchAdmission({ cancellation, clock, deadlineMs, startedAt })
    this.#metadata = createResponseMetadata({ requestId, modelAsked: originalRequest.routing.models[0], at, startedAt })
    this.#entry = { requestId, control: { cancellation, leave }, slots: [] }
    if (signal?.aborted) this.#leave()
    else signal?.addEventListener('abort', this.#leave, { once: true })
    running.add(this.#entry)
    // Such a runtime drops the work and timers of a request that has ended or whose client disconnected.
    if (waitUntil) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onOver = resolve
      passToWaitUntil(waitUntil, promise, { requestId, logger })
    }
  }

  readonly #leave = (): void => this.cancellation.cancel('client_left')

  /** The metadata of the reply so far. */
  metadata(): ResponseMetadata {
    return this.#metadata(this.known)
  }

  /** Milliseconds until the deadline. */
  leftMs(): number {
    return this.deadlineAt - this.engine.clock.monotonic()
  }

  /** Takes what is known of the request before it is admitted. `progress` is written to its journal. */
  setPrepared(prepared: PreparedRequest, progress: () => JournalProgress | undefined): void {
    const { at, options, originalRequest, engine } = this
    const { caller, requestId } = options
    const { policy, request, plan } = prepared
    const { workspaceId, keyId, ancestors, budgets } = caller
    const tags = caller.tags || request.metadata?.tags ? tagsOf(caller, request.metadata) : undefined
    this.facts = { requestId, workspaceId, keyId, model: originalRequest.routing.models[0], ancestors, budgets, tags }
    this.policy = policy
    this.request = request
    this.bounds = prepared.bounds
    this.inputTokens = prepared.inputTokens
    this.plan = plan
    this.carried = prepared.carried
    this.keepsItems = prepared.keepsItems
    this.hedge = prepared.hedge
    this.maxHedgeCost = prepared.maxHedgeCost
    this.cacheKey = prepared.cacheKey
    const { timeouts } = engine
    const { timeout_ms, deadline_ms } = request.routing
    const usualMs = request.delivery === 'stream' ? timeouts.firstByteMs : timeouts.wholeMs
    this.deadlineAt = this.startedAt + (deadline_ms ?? timeouts.deadlineMs)
    this.ceilingMs = timeout_ms ?? usualMs
    this.isCeilingChosen = this.ceilingMs < usualMs
    this.journal = createJournal(this.facts, { request, plan, at })
    this.journal.progress = progress
  }

  /** Takes the request's admission, and starts to renew its slots and its hold. */
  setAdmitted(ticket: Ticket): void {
    const { engine, options, journal } = this
    const entry = this.#entry
    this.ticket = ticket
    this.plan = ticket.plan
    this.allowance = allowanceOf(options.requestId, ticket.held, engine)
    if (this.admissionWatch) this.admissionWatch.isOn = false
    this.admissionWatch = undefined
    entry.slots = ticket.slots
    entry.journal = journal.write
    // The first renewal is early, because a provider has been called by then. Most requests end before it.
    const now = engine.clock.monotonic()
    entry.holdDueAt = now + 1
    entry.deadlineAt = this.deadlineAt
    engine.leases.begin(now)
    if (options.waitUntil) this.#renewLater()
    engine.sharing?.resume()
  }

  /** Renews by a timer of its own, because a shared one may be dropped with the request that set it. */
  #renewLater(): void {
    const { leases, clock } = this.engine
    this.#timer = clock.setTimeout(() => {
      leases.renewDue()
      this.#renewLater()
    }, leaseMs)
  }

  /** Drops what an open response no longer needs. */
  release(): void {
    this.carried = undefined
  }

  /** Stops renewing, before settlement, so that a released slot is not taken again. */
  endLease(): void {
    this.#entry.slots = []
  }

  /** Removes the request from the running ones. Idempotent. */
  end(): void {
    const { running, sharing, clock } = this.engine
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer)
    this.#onOver?.()
    removeRunning(running, this.#entry)
    if (running.size === 0) sharing?.pause()
    this.options.signal?.removeEventListener('abort', this.#leave)
  }
}
