import { encodeForOffer } from '@signalbox/dialects/clients'
import { isContentLost, type UsedSettings, usedSettings } from '@signalbox/dialects/common'
import type { GatewayError } from '@signalbox/dialects/errors'
import type {
  EncodedRequest,
  Failure,
  Headroom,
  InferenceRequest,
  InferenceResponse,
  JsonObject,
  Outcome,
  ProviderDialect,
  Quirks,
  Sink,
  Source,
  Transport,
  TransportReply,
  Usage,
  Warning,
} from '@signalbox/dialects/protocol'
import { largeBody, startFold } from '@signalbox/dialects/protocol'
import type { AnswerUsage, DynamicRouter, RouterAttempt, RouterChoice, TrackedOffer } from '@signalbox/router'
import { mayOpenStored } from '../routing/offer-facts.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Cancellation } from '../runtime/cancellation.ts'
import type { ClaimMemory, Clock, Logger, MediaReader } from '../runtime/ports.ts'
import { type AnswerStream, ProviderStream } from './answer-stream.ts'
import { type AnswerTimer, pausedShare, startTimer, stopTimer, type TimeOver } from './answer-timer.ts'
import { type Connection, openConnection } from './connection.ts'
import { withinItemLimit } from './event-batches.ts'
import { failurePolicies } from './failure-policy.ts'
import { failureWithoutSecret } from './failure-without-secret.ts'
import type { FrameFormat, StreamRead } from './frame-format.ts'
import { inlineMedia, kindsToRead } from './inline-media.ts'
import type { Timeouts } from './limits.ts'
import { type AnswerHandlers, Exchange, type LargeEncoding } from './send.ts'

/** The parts of a gateway that calls to providers use. */
export interface UpstreamEngine {
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
  readonly router: DynamicRouter
  readonly timeouts: Pick<Timeouts, 'idleMs'>
  /** Undefined if the gateway downloads no images and files. */
  readonly media?: MediaReader | undefined
  /** Called with the headers of a response to a BYOK key if they report its rate limits. */
  readonly onOwnAnswer?: ((candidate: Candidate, header: TransportReply['header']) => void) | undefined
}

/** The request that an attempt belongs to. */
export interface AttemptedRequest {
  readonly engine: UpstreamEngine
  /** The deadline in monotonic milliseconds. */
  readonly deadlineAt: number
  /** The candidate that was called last. */
  lastSent: Candidate | undefined
  readonly options: {
    /** Whether the request is encoded with few copies, in a turn of the event loop of its own. Default: false. */
    readonly isLarge?: boolean
    /** Called with the bytes of memory that downloaded images and files take. Throws to refuse them. */
    readonly claimMemory?: ClaimMemory | undefined
  }
}

/** The candidate selected for the next call. */
export interface SelectedOffer {
  readonly candidate: Candidate
  /** The router's view of the offer. */
  readonly contender: TrackedOffer
  readonly choice: RouterChoice
}

/** A response that has begun: complete, or a stream whose first content has arrived. */
export type Answer = { readonly response: InferenceResponse } | { readonly stream: AnswerStream }

/** An attempt whose response has begun, and reaches the client. */
export type CommittedAttempt = Attempt & { readonly answer: Answer }

/** One call to one candidate: encodes and sends the request, decodes the response up to its first content, and reports to the router, once, how it ended. */
export class Attempt implements AnswerHandlers {
  readonly selected: SelectedOffer
  readonly candidate: Candidate
  /** Milliseconds until the response must begin, without regard to the deadline. */
  readonly ceilingMs: number
  /** When the call was sent, in monotonic milliseconds. */
  sentAt: number | undefined
  /** The tier named in the response headers (`Quirks.tierHeader`). */
  statedTier: string | undefined
  /** The provider has accepted the request, and may bill it. */
  isAccepted = false
  /** Set if the call succeeded. */
  answer: Answer | undefined
  warnings: readonly Warning[] = []
  /** Settings that were sent with a different value than the client's. */
  used: UsedSettings | undefined

  readonly #run: AttemptedRequest
  readonly #quirks: Quirks
  readonly #connection: Connection
  readonly #dialect: ProviderDialect | undefined
  #mapping: EncodedRequest['mapping']
  #isStream = false
  #isOver = false
  /** Milliseconds until the response must begin, with regard to the deadline. */
  #waitMs = 0
  /** The deadline of the request comes before the limit of the attempt. */
  #endsByDeadline = false
  #timer: AnswerTimer | undefined
  #resolve: ((failure: Failure | undefined) => void) | undefined
  /** Cancels reading the response. */
  #stopReading: (() => void) | undefined
  /** Ends a stream that timed out. */
  #stopForTime: ((why: TimeOver) => void) | undefined
  /** Releases the memory of downloaded images and files. */
  #releaseMedia: (() => void) | undefined
  /** The router's attempt, from sending the call until its outcome is reported. */
  #underway: RouterAttempt | undefined

  constructor(run: AttemptedRequest, selected: SelectedOffer, ceilingMs: number, cancellation: Cancellation) {
    const { dialect, quirks } = selected.candidate
    this.#run = run
    this.selected = selected
    this.candidate = selected.candidate
    this.ceilingMs = ceilingMs
    this.#quirks = quirks
    this.#dialect = dialect
    this.#connection = openConnection(cancellation)
  }

  /**
   * Makes the call. Resolves to its failure, or to undefined once `answer` is set. Failures are values, even if provider code throws.
   * `warnings`: what was already left out of the request.
   */
  send(request: InferenceRequest, warnings: readonly Warning[] = []): Promise<Failure | undefined> {
    return new Promise(resolve => {
      const { engine, deadlineAt, options } = this.#run
      const { clock, media } = engine
      const connection = this.#connection
      const { cancellation, signal } = connection
      const dialect = this.#dialect
      this.#resolve = resolve
      this.#isStream = request.delivery === 'stream'
      this.warnings = warnings
      if (!dialect) {
        const { provider, offer } = this.candidate
        this.onFailure(notSent(`${provider.id} does not support the dialect "${offer.api}" of its offer.`))
        return
      }
      const now = clock.monotonic()
      const leftMs = deadlineAt - now
      this.#waitMs = Math.min(this.ceilingMs, leftMs)
      this.#endsByDeadline = leftMs <= this.ceilingMs + 1
      this.#timer = startTimer(clock, { milliseconds: this.#waitMs, now }, why => this.#endForTime(why))
      const onCancelled = (): void => this.onFailure({ kind: cancellation.reason ?? 'client_left', message: '' })
      connection.onCancelled = onCancelled
      if (cancellation.reason !== undefined) {
        onCancelled()
        return
      }
      const kinds = media ? kindsToRead(request, { dialect, quirks: this.#quirks }) : []
      if (!media || kinds.length === 0) {
        this.#encode(request, dialect, options.isLarge === true)
        return
      }
      inlineMedia(request, { kinds, read: media, signal, claimMemory: options.claimMemory }).then(
        inlined => {
          if (inlined.ok) this.#releaseMedia = inlined.release
          if (this.#isOver) this.#releaseMedia?.()
          else if (inlined.ok) this.#encode(inlined.request, dialect, options.isLarge === true || inlined.bytes > largeBody)
          else this.onFailure(inlined.refusal ? noMemory(inlined.refusal) : notSent(inlined.why))
        },
        (error: unknown) => this.onError(error),
      )
    })
  }

  /** Encodes the request and sends it. A large one is encoded in a turn of the event loop of its own. */
  #encode(request: InferenceRequest, dialect: ProviderDialect, isLarge: boolean): void {
    if (!isLarge) {
      this.#encodeAndSend(request, dialect)
      return
    }
    const encodeLarge = async (): Promise<void> => {
      const large = await import('./encode-large-json.ts')
      if (!this.#isOver) this.#encodeAndSend(request, dialect, large)
    }
    this.#run.engine.clock.setTimeout(() => encodeLarge().catch(error => this.onError(error)), 0)
  }

  #encodeAndSend(request: InferenceRequest, dialect: ProviderDialect, large?: LargeEncoding): void {
    const { candidate } = this
    const { engine } = this.#run
    const quirks = this.#quirks
    const provider = candidate.provider.id
    try {
      const encoded = encodeForOffer(dialect, request, { offer: candidate.offer, quirks, mayOpenStored: mayOpenStored(candidate) })
      const lost = encoded.warnings.find(isContentLost)
      if (lost) {
        // Routing could not foresee the loss, such as the type of an image that has just been downloaded.
        this.onFailure(notSent(`${provider} does not support a part of the request: ${lost.message}`, lost.param))
        return
      }
      if (encoded.warnings.length > 0) {
        this.warnings = besides(this.warnings, encoded.warnings)
        this.used = usedSettings(encoded.body, encoded.warnings, dialect.settingPaths ?? {})
      }
      const [warning] = this.warnings
      if (request.routing.strict && warning) {
        const reason = `${provider} cannot serve the request without a warning: ${warning.message}`
        this.onFailure(notSent(`\`gateway.routing.strict\` is set, and ${reason}`, warning.param))
        return
      }
      this.#mapping = encoded.mapping
      const now = engine.clock.monotonic()
      this.sentAt = now
      this.#underway = engine.router.startAttempt(this.selected.choice)
      this.#run.lastSent = candidate
      const { signal } = this.#connection
      new Exchange({ candidate, dialect, encoded, quirks, stream: this.#isStream, large, signal, now }, engine, this).send()
    } catch (error) {
      this.onError(error)
    }
  }

  onHeadroom(headroom: Headroom, header: TransportReply['header']): void {
    const { router, onOwnAnswer } = this.#run.engine
    router.updateHeadroom(this.selected.contender, headroom)
    if (this.candidate.credential.owner === 'workspace') onOwnAnswer?.(this.candidate, header)
  }

  onReading(source: Pick<Source<unknown>, 'cancel'>): void {
    const stopReading = (): void => source.cancel()
    this.#stopReading = stopReading
  }

  onAccepted(header: TransportReply['header']): void {
    const { tierHeader } = this.#quirks
    const tier = tierHeader && header(tierHeader)
    this.isAccepted = true
    if (tier) this.statedTier = tier.trim().toLowerCase()
  }

  onBody(body: JsonObject): void {
    const dialect = this.#dialect as ProviderDialect
    const response = withinItemLimit(dialect.decodeResponse(body, this.#mapping))
    if (response.outcome.status === 'failed') this.onFailure(response.outcome.error)
    else this.#complete({ response })
  }

  onStream<Read extends StreamRead>(source: Pick<Source<Read>, 'pause' | 'resume' | 'cancel'>, format: FrameFormat<Read>): Sink<Read> {
    const { engine, deadlineAt } = this.#run
    const dialect = this.#dialect as ProviderDialect
    const stream = new ProviderStream(
      {
        source,
        format,
        decoder: dialect.decodeEvents(this.#mapping),
        connection: this.#connection,
        timer: this.#timer as AnswerTimer,
        candidate: this.candidate,
        logger: engine.logger,
        isWhole: !this.#isStream,
        idleMs: engine.timeouts.idleMs,
        deadlineAt,
      },
      { onContent: answer => this.#onContent(answer), onFailure: failure => this.onFailure(failure) },
    )
    this.#stopForTime = stream.stopForTime.bind(stream)
    this.#stopReading = stream.drop.bind(stream)
    return stream
  }

  #onContent(stream: AnswerStream): void {
    if (this.#isStream) {
      this.#complete({ stream })
      return
    }
    const folding = startFold()
    stream.read({
      next: batch => batch.forEach(folding.add),
      end: () => this.#complete({ response: folding.response() }),
      fail: error => this.onError(error),
    })
  }

  #complete(answer: Answer): void {
    if (this.#isOver) return
    this.#isOver = true
    const { router } = this.#run.engine
    this.answer = answer
    this.#connection.onCancelled = undefined
    if ('response' in answer) {
      if (this.#timer) stopTimer(this.#timer)
      this.#connection.release()
    } else if (this.#timer && this.#stopForTime) this.#timer.onOver = this.#stopForTime
    if (this.#isStream) {
      if (this.#underway) router.recordFirstContent(this.#underway)
    } else {
      const underway = this.#endUnderway()
      if (underway) router.finishAttempt(underway, usageForRouter('response' in answer ? answer.response.usage : undefined))
    }
    this.#end(undefined)
  }

  onFailure(failure: Failure): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#timer) stopTimer(this.#timer)
    this.#connection.close()
    this.#stopReading?.()
    this.#releaseMedia?.()
    const { credential, provider } = this.candidate
    const isByokRefused = credential.owner === 'workspace' && failurePolicies[failure.kind].recordedAs === 'credential'
    const named = isByokRefused ? { provider: provider.id, credential: credential.id } : { provider: provider.id }
    this.#end({ ...failureWithoutSecret(failure, credential), ...named })
  }

  onError(error: unknown): void {
    if (this.#isOver) return
    this.#run.engine.logger.error(
      { provider: this.candidate.provider.id, error: String(error) },
      'A provider that runs in this process threw an error. The next candidate is tried.',
    )
    this.onFailure({ kind: 'unreachable', message: '' })
  }

  /** Resolves, and drops the reading functions. */
  #end(failure: Failure | undefined): void {
    this.#stopReading = undefined
    this.#stopForTime = undefined
    this.#resolve?.(failure)
    this.#resolve = undefined
  }

  #endForTime(why: TimeOver): void {
    if (why !== 'timed_out') this.#stopForTime?.(why)
    else if (this.#endsByDeadline) this.onFailure({ kind: 'deadline', message: '' })
    // Slow downloads do not count against the provider.
    else if (this.sentAt === undefined) this.onFailure(notSent('The images and files of the request could not be downloaded in time.'))
    else this.onFailure({ kind: 'timed_out', message: `No content arrived within ${Math.ceil(this.#waitMs)} ms.` })
  }

  /** Takes the router's attempt, so that its outcome is reported only once. */
  #endUnderway(): RouterAttempt | undefined {
    const underway = this.#underway
    this.#underway = undefined
    return underway
  }

  /**
   * Reports a failure before the first content to the router. `failurePolicies` defines how it is recorded for the offer. `permanent`:
   * whether the same request would fail again. `chosen`: whether the time limit that was exceeded was set by the client.
   */
  reportFailure({ kind, retryAfterMs }: Failure, { permanent, chosen }: { readonly permanent: boolean; readonly chosen: boolean }): void {
    const { router } = this.#run.engine
    const { recordedAs } = failurePolicies[kind]
    // A call that failed before it was sent is recorded as an attempt too, so that this request does not use the offer again.
    const underway = this.#endUnderway() ?? router.startAttempt(this.selected.choice)
    if (recordedAs === 'left') router.abandonAttempt(underway)
    else router.failAttempt(underway, { kind: recordedAs, permanent, callerTimeout: chosen && recordedAs === 'timeout', retryAfterMs })
  }

  /** Reports to the router how the response ended. Without an outcome, the call is abandoned: its hedge was faster, or an error ended it. */
  reportEnd({ outcome, usage }: { readonly outcome?: Outcome | undefined; readonly usage?: Usage | undefined } = {}): void {
    const { router } = this.#run.engine
    const underway = this.#endUnderway()
    if (!underway) return
    const recordedAs = outcome?.status === 'failed' ? failurePolicies[outcome.error.kind].recordedAs : undefined
    if (!outcome || recordedAs === 'left') router.abandonAttempt(underway)
    else if (recordedAs) router.failAttempt(underway, { kind: recordedAs })
    else router.finishAttempt(underway, usageForRouter(usage, this.pausedShare() > 0.5))
  }

  /** The share of the response's time in which the client did not read, from 0 to 1. */
  pausedShare(): number {
    return this.answer && 'stream' in this.answer ? pausedShare(this.answer.stream.timer) : 0
  }

  /** Closes the response without reading the rest. */
  cancel(): void {
    if (this.answer && 'stream' in this.answer) this.answer.stream.cancel()
  }
}

/** The provider's usage for the router, without estimates and without the speed of a stream that was read slowly. */
function usageForRouter(usage: Usage | undefined, isSlow = false): AnswerUsage {
  if (!usage || usage.estimated) return {}
  return { cachedTokens: usage.cached_tokens, outputTokens: isSlow ? undefined : usage.output_tokens }
}

/** Joins both lists, without new warnings whose code is already listed: reasoning that was left out before is not reported twice. */
const besides = (before: readonly Warning[], encoded: readonly Warning[]): readonly Warning[] =>
  before.length === 0 ? encoded : [...before, ...encoded.filter(({ code }) => before.every(known => known.code !== code))]

/** A failure before any request was sent, with a message of our own. */
const notSent = (message: string, param?: string): Failure => ({ kind: 'unsupported', message, isForClient: true, param })

/** The refusal of memory for what was downloaded, which ends the request as if its body had been refused. */
const noMemory = ({ code, message, facts: { retryAfterMs } }: GatewayError): Failure => ({
  kind: 'no_memory',
  message,
  code,
  isForClient: true,
  retryAfterMs,
})
