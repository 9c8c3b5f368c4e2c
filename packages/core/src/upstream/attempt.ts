import { encodeForOffer } from '@signalbox/dialects/clients'
import { isContentLost, type UsedSettings, usedSettings } from '@signalbox/dialects/common'
import type { GatewayError } from '@signalbox/dialects/errors'
import type {
  EncodedRequest,
  Failure,
  InferenceEvent,
  InferenceRequest,
  InferenceResponse,
  JsonObject,
  ProviderDialect,
  Quirks,
  Warning,
} from '@signalbox/dialects/protocol'
import { dialectFor, largeBody, quirksFor, startFold } from '@signalbox/dialects/protocol'
import { mayOpenStored } from '../routing/offer-facts.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Cancellation } from '../runtime/cancellation.ts'
import type { ClaimMemory, Logger, MediaReader } from '../runtime/ports.ts'
import { type AnswerStream, ProviderStream } from './answer-stream.ts'
import { type AnswerTimer, startTimer, stopTimer, type TimeOver } from './answer-timer.ts'
import { type Connection, openConnection } from './connection.ts'
import { withinItemLimit } from './event-batches.ts'
import { failurePolicies } from './failure-policy.ts'
import { failureWithoutSecret } from './failure-without-secret.ts'
import { inlineMedia, kindsToRead } from './inline-media.ts'
import { type AnswerHandlers, type LargeEncoding, type SendPorts, sendRequest } from './send.ts'

export interface AttemptLimits {
  /** The request's deadline in monotonic milliseconds. */
  readonly deadlineAt: number
  /** Limit until the first content of a stream, or the end of a non-streamed response. */
  readonly ceilingMs: number
  readonly idleMs: number
}

export interface AttemptOptions {
  readonly candidate: Candidate
  readonly request: InferenceRequest
  /** Whether the request is encoded with few copies, in a turn of the event loop of its own. Default: false. */
  readonly isLarge?: boolean
  /** Called with the bytes of memory that downloaded images and files take. Throws to refuse them. */
  readonly claimMemory?: ClaimMemory | undefined
  /** What was already left out of the request. */
  readonly warnings?: readonly Warning[] | undefined
  readonly cancellation: Cancellation
  readonly limits: AttemptLimits
  /** Called when the call is sent, with the time in monotonic milliseconds. Not called if it never is. */
  readonly onSent?: (now: number) => void
  /** Called with the tier named in the response headers (`Quirks.tierHeader`). */
  readonly onTier?: (tier: string) => void
}

export interface AttemptPorts extends SendPorts {
  readonly logger: Logger
  readonly media?: MediaReader | undefined
}

/** A response that has begun: complete, or a stream whose first content has arrived. */
export type Answer = { readonly response: InferenceResponse } | { readonly stream: AnswerStream }

export type AttemptResult =
  | { readonly ok: true; readonly answer: Answer; readonly warnings: readonly Warning[]; readonly used?: UsedSettings | undefined }
  | { readonly ok: false; readonly failure: Failure; readonly accepted: boolean }

interface AttemptState {
  readonly options: AttemptOptions
  readonly ports: AttemptPorts
  readonly dialect: ProviderDialect
  readonly quirks: Quirks
  readonly connection: Connection
  /** Milliseconds until the response must begin. */
  readonly ceilingMs: number
  /** The request's deadline comes before the limit of the attempt. */
  readonly endsByDeadline: boolean
  readonly resolve: (result: AttemptResult) => void
  timer: AnswerTimer | undefined
  /** Cancels reading the response. */
  stopReading: (() => void) | undefined
  isAccepted: boolean
  isOver: boolean
  isSent: boolean
  /** Releases the memory of downloaded images and files. */
  releaseMedia: (() => void) | undefined
  warnings: readonly Warning[]
  /** Settings that were sent with a different value than the client's. */
  used: UsedSettings | undefined
  /** Ends a stream that timed out. */
  stopForTime: ((why: TimeOver) => void) | undefined
}

/** Makes one call to one candidate: encodes, sends and decodes up to the first content. Failures are values, even if provider code throws. */
export function runAttempt(options: AttemptOptions, ports: AttemptPorts): Promise<AttemptResult> {
  const { candidate, limits, cancellation } = options
  const { provider, offer } = candidate
  return new Promise(resolve => {
    const dialect = dialectFor(provider, offer)
    if (!dialect) {
      const failure = notSent(`${provider.id} does not support the dialect "${offer.api}" of its offer.`)
      resolve({ ok: false, accepted: false, failure: { ...failure, provider: provider.id } })
      return
    }
    const now = ports.clock.monotonic()
    const leftMs = limits.deadlineAt - now
    const state: AttemptState = {
      options,
      ports,
      dialect,
      quirks: quirksFor(provider, offer),
      connection: openConnection(cancellation),
      ceilingMs: Math.min(limits.ceilingMs, leftMs),
      endsByDeadline: leftMs <= limits.ceilingMs + 1,
      resolve,
      timer: undefined,
      stopReading: undefined,
      isAccepted: false,
      isOver: false,
      isSent: false,
      releaseMedia: undefined,
      warnings: options.warnings ?? [],
      used: undefined,
      stopForTime: undefined,
    }
    state.timer = startTimer(ports.clock, { milliseconds: state.ceilingMs, now }, why => handleTimeout(state, why))
    const onCancelled = (): void => failAttempt(state, { kind: cancellation.reason ?? 'client_left', message: '' })
    state.connection.onCancelled = onCancelled
    if (cancellation.reason === undefined) startAttempt(state)
    else onCancelled()
  })
}

function startAttempt(state: AttemptState): void {
  const { options, ports, connection } = state
  const kinds = ports.media ? kindsToRead(options.request, state) : []
  if (kinds.length === 0 || !ports.media) {
    if (options.isLarge) encodeLater(state, options.request)
    else encodeAndSend(state, options.request)
    return
  }
  inlineMedia(options.request, { kinds, read: ports.media, signal: connection.signal, claimMemory: options.claimMemory }).then(
    inlined => {
      if (inlined.ok) state.releaseMedia = inlined.release
      if (state.isOver) state.releaseMedia?.()
      else if (!inlined.ok) failAttempt(state, inlined.refusal ? noMemory(inlined.refusal) : notSent(inlined.why))
      else if (options.isLarge || inlined.bytes > largeBody) encodeLater(state, inlined.request)
      else encodeAndSend(state, inlined.request)
    },
    (error: unknown) => providerThrew(state, error),
  )
}

/** Encodes a large request in a turn of the event loop of its own. */
function encodeLater(state: AttemptState, request: InferenceRequest): void {
  state.ports.clock.setTimeout(() => encodeLarge(state, request).catch(error => providerThrew(state, error)), 0)
}

async function encodeLarge(state: AttemptState, request: InferenceRequest): Promise<void> {
  const large = await import('./encode-large-json.ts')
  if (!state.isOver) encodeAndSend(state, request, large)
}

function encodeAndSend(state: AttemptState, request: InferenceRequest, large?: LargeEncoding): void {
  const { options, ports, dialect, quirks, connection } = state
  const { candidate } = options
  try {
    const encoded = encodeForOffer(dialect, request, { offer: candidate.offer, quirks, mayOpenStored: mayOpenStored(candidate) })
    const lost = encoded.warnings.find(isContentLost)
    if (lost) {
      failAttempt(state, wouldLose(candidate.provider.id, lost))
      return
    }
    if (encoded.warnings.length > 0) {
      state.warnings = besides(state.warnings, encoded.warnings)
      state.used = usedSettings(encoded.body, encoded.warnings, dialect.settingPaths ?? {})
    }
    const [warning] = state.warnings
    if (request.routing.strict && warning) {
      failAttempt(state, tooLossy(candidate.provider.id, warning))
      return
    }
    state.isSent = true
    const now = ports.clock.monotonic()
    options.onSent?.(now)
    const stream = request.delivery === 'stream'
    const sending = { candidate, dialect, encoded, quirks, stream, large, signal: connection.signal, now }
    sendRequest(sending, ports, handlersOf(state, encoded))
  } catch (error) {
    providerThrew(state, error)
  }
}

/** Joins both lists, without new warnings whose code is already listed: reasoning that was left out before is not reported twice. */
const besides = (before: readonly Warning[], encoded: readonly Warning[]): readonly Warning[] =>
  before.length === 0 ? encoded : [...before, ...encoded.filter(({ code }) => before.every(known => known.code !== code))]

function handlersOf(state: AttemptState, { mapping }: EncodedRequest): AnswerHandlers {
  const { dialect, quirks, options, ports } = state
  return {
    onReading: source => {
      const stopReading = (): void => source.cancel()
      state.stopReading = stopReading
    },
    onAccepted: header => {
      state.isAccepted = true
      const tier = quirks.tierHeader && header(quirks.tierHeader)
      if (tier) options.onTier?.(tier.trim().toLowerCase())
    },
    onBody: body => receiveBody(state, body, mapping),
    onStream: (source, format) => {
      const { connection, timer } = state
      const stream = new ProviderStream(
        {
          source,
          format,
          decoder: dialect.decodeEvents(mapping),
          connection,
          timer: timer as AnswerTimer,
          candidate: options.candidate,
          logger: ports.logger,
          isWhole: options.request.delivery !== 'stream',
          idleMs: options.limits.idleMs,
          deadlineAt: options.limits.deadlineAt,
        },
        { onContent: answer => receiveContent(state, answer), onFailure: failure => failAttempt(state, failure) },
      )
      // Bound, not wrapped: a function made here would keep the attempt for as long as the stream is open.
      state.stopForTime = stream.stopForTime.bind(stream)
      state.stopReading = stream.drop.bind(stream)
      return stream
    },
    onFailure: failure => failAttempt(state, failure),
    onError: error => providerThrew(state, error),
  }
}

function receiveBody(state: AttemptState, body: JsonObject, mapping: EncodedRequest['mapping']): void {
  const response = withinItemLimit(state.dialect.decodeResponse(body, mapping))
  if (response.outcome.status === 'failed') failAttempt(state, response.outcome.error)
  else completeAttempt(state, { response })
}

function receiveContent(state: AttemptState, stream: AnswerStream): void {
  if (state.options.request.delivery === 'stream') {
    completeAttempt(state, { stream })
    return
  }
  const folding = startFold()
  const add = (batch: readonly InferenceEvent[]): void => batch.forEach(folding.add)
  stream.read({
    next: add,
    end: () => completeAttempt(state, { response: folding.response() }),
    fail: error => providerThrew(state, error),
  })
}

function completeAttempt(state: AttemptState, answer: Answer): void {
  if (state.isOver) return
  state.isOver = true
  state.connection.onCancelled = undefined
  if ('response' in answer) {
    if (state.timer) stopTimer(state.timer)
    state.connection.release()
  } else if (state.timer && state.stopForTime) state.timer.onOver = state.stopForTime
  state.resolve({ ok: true, answer, warnings: state.warnings, used: state.used })
}

function failAttempt(state: AttemptState, failure: Failure): void {
  if (state.isOver) return
  state.isOver = true
  if (state.timer) stopTimer(state.timer)
  state.connection.close()
  state.stopReading?.()
  state.releaseMedia?.()
  const { credential, provider } = state.options.candidate
  const isByokRefused = credential.owner === 'workspace' && failurePolicies[failure.kind].recordedAs === 'credential'
  const named = isByokRefused ? { provider: provider.id, credential: credential.id } : { provider: provider.id }
  state.resolve({ ok: false, accepted: state.isAccepted, failure: { ...failureWithoutSecret(failure, credential), ...named } })
}

function providerThrew(state: AttemptState, error: unknown): void {
  if (state.isOver) return
  const provider = state.options.candidate.provider.id
  state.ports.logger.error(
    { provider, error: String(error) },
    'A provider that runs in this process threw an error. The next candidate is tried.',
  )
  failAttempt(state, { kind: 'unreachable', message: '' })
}

function handleTimeout(state: AttemptState, why: TimeOver): void {
  if (why !== 'timed_out') {
    state.stopForTime?.(why)
    return
  }
  if (state.endsByDeadline) failAttempt(state, { kind: 'deadline', message: '' })
  else
    failAttempt(
      state,
      state.isSent ? { kind: 'timed_out', message: `No content arrived within ${Math.ceil(state.ceilingMs)} ms.` } : tooSlow,
    )
}

/** A failure before any request was sent, with a message of our own. */
const notSent = (message: string): Failure => ({ kind: 'unsupported', message, isForClient: true })

/** The refusal of memory for what was downloaded, which ends the request as if its body had been refused. */
const noMemory = ({ code, message, facts: { retryAfterMs } }: GatewayError): Failure => ({
  kind: 'no_memory',
  message,
  code,
  isForClient: true,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

/** Does not count against the provider: the downloads were slow. */
const tooSlow = notSent('The images and files of the request could not be downloaded in time.')

/** The failure of a loss that routing could not foresee, such as the type of an image that has just been downloaded. */
const wouldLose = (provider: string, { message, param }: Warning): Failure => ({
  ...notSent(`${provider} does not support a part of the request: ${message}`),
  ...(param !== undefined && { param }),
})

/** The failure of a strict request that would cause a warning. */
const tooLossy = (provider: string, { message, param }: Warning): Failure => ({
  ...notSent(`\`gateway.routing.strict\` is set, and ${provider} cannot serve the request without a warning: ${message}`),
  ...(param !== undefined && { param }),
})
