import { readHeadroom } from '@signalbox/dialects/common'
import type {
  EncodedRequest,
  FailedAnswer,
  Failure,
  Frame,
  Headroom,
  JsonObject,
  LocalReply,
  ProviderDialect,
  Quirks,
  Sink,
  Source,
  Transport,
  TransportReply,
  TransportRequest,
} from '@signalbox/dialects/protocol'
import { answerLimits } from '@signalbox/dialects/protocol'
import { readFrames } from '@signalbox/dialects/sse'
import type { Candidate } from '../routing/plan.ts'
import type { Clock } from '../runtime/ports.ts'
import { asSource, sourceOf } from '../runtime/source.ts'
import type { FrameFormat, StreamRead } from './frame-format.ts'
import { type AnswerShape, type BodyText, collectText, detectShape, maxFailureBytes, parseAnswer } from './read-body.ts'

export interface SendPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** Called with every response whose headers report the remaining rate limits. */
  readonly onHeadroom?: (headroom: Headroom, header: TransportReply['header']) => void
}

/** The functions for large bodies, which are loaded with the first one. */
export type LargeEncoding = typeof import('./encode-large-json.ts')

/** One request to a provider. */
export interface SendOptions {
  readonly candidate: Candidate
  readonly dialect: ProviderDialect
  readonly encoded: EncodedRequest
  readonly quirks: Quirks
  readonly stream: boolean
  /** Encodes a large body with few copies, if the transport takes bytes. Absent: the body is not large. */
  readonly large?: LargeEncoding | undefined
  readonly signal: AbortSignal
  /** Default: the provider's endpoint. */
  readonly url?: string
  /** Monotonic milliseconds, if known. */
  readonly now?: number
}

type SendFailure = Omit<Failure, 'provider'>

/** One of `onBody`, `onStream`, `onFailure` and `onError` is called, once; none if the response arrives after `signal` has fired. */
export interface AnswerHandlers {
  /** Reading the response has begun. `cancel` stops it, even if the transport ignores its signal. */
  readonly onReading?: (source: Pick<Source<unknown>, 'cancel'>) => void
  /** The provider has accepted the request: from now on it may bill. */
  readonly onAccepted: (header: TransportReply['header']) => void
  readonly onBody: (body: JsonObject) => void
  /** Returns the sink for the stream. */
  readonly onStream: <Read extends StreamRead>(
    source: Pick<Source<Read>, 'pause' | 'resume' | 'cancel'>,
    format: FrameFormat<Read>,
  ) => Sink<Read>
  readonly onFailure: (failure: SendFailure) => void
  /** Dialect or provider code threw. Errors of `authorize` are failures instead, because it may need the network. */
  readonly onError: (error: unknown) => void
}

const sendFailure = (kind: Failure['kind'], message: string, status?: number): SendFailure => ({
  kind,
  message,
  ...(status !== undefined && { status }),
})

/** One exchange with a provider: its response becomes frames, a body, or a failure, whatever its content type. */
export function sendRequest(options: SendOptions, ports: SendPorts, handlers: AnswerHandlers): void {
  const { provider, offer, credential } = options.candidate
  if (provider.answer) {
    sendLocally(options, ports, handlers)
    return
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: options.stream ? 'text/event-stream' : 'application/json',
    'user-agent': 'signalbox',
    ...options.encoded.headers,
  }
  const { api, model } = offer
  const { transport, clock } = ports
  const { signal, encoded } = options
  const url = options.url ?? provider.endpoint({ api, model, stream: options.stream, credential })
  const large = transport.takesBytes ? options.large : undefined
  const bytes = large?.encodeLargeJson(encoded.body)
  const body = bytes ? '' : JSON.stringify(encoded.body)
  const request: TransportRequest = bytes ? { url, method: 'POST', headers, signal, bytes } : { url, method: 'POST', headers, signal, body }
  const exchange = { options, ports, handlers }
  try {
    const monotonic = options.now ?? clock.monotonic()
    const call = { api, url, body, transport, now: clock.now(), monotonic, signal }
    const authorizing = provider.authorize(headers, credential, large ? large.withLateBody(call, encoded.body) : call)
    if (authorizing) transmitLater(authorizing, exchange, request)
    else transmit(exchange, request)
  } catch (error) {
    unreachable(handlers, error)
  }
}

/** A request that is sent, and where its response goes. */
interface Exchange {
  readonly options: SendOptions
  readonly ports: SendPorts
  readonly handlers: AnswerHandlers
}

const transmit = (exchange: Exchange, request: TransportRequest): void =>
  void exchange.ports.transport(request).then(
    reply => orError(exchange.handlers, () => readReply(reply, exchange)),
    error => unreachable(exchange.handlers, error),
  )

const transmitLater = (authorizing: Promise<void>, exchange: Exchange, request: TransportRequest): void =>
  void authorizing.then(() => transmit(exchange, request)).catch(error => unreachable(exchange.handlers, error))

const unreachable = (handlers: AnswerHandlers, error: unknown): void => handlers.onFailure(sendFailure('unreachable', reasonOf(error)))

function orError({ onError }: AnswerHandlers, run: () => void): void {
  try {
    run()
  } catch (error) {
    onError(error)
  }
}

function readReply(reply: TransportReply, exchange: Exchange): void {
  const { options, ports, handlers } = exchange
  const { clock, onHeadroom } = ports
  const { rateLimits } = options.quirks
  const headroom = rateLimits && onHeadroom ? readHeadroom(reply.header, rateLimits, clock.now()) : undefined
  if (headroom) onHeadroom?.(headroom, reply.header)
  const { status } = reply
  const source = asSource(reply.body)
  if (options.signal.aborted) {
    source.cancel()
    return
  }
  handlers.onReading?.(source)
  if (status >= 300 && status < 400) {
    source.cancel()
    handlers.onFailure(sendFailure('unreadable', 'The provider sent a redirect, and redirects are not followed.', status))
  } else if (status < 200 || status >= 300) readFailedReply(reply, source, exchange)
  else {
    handlers.onAccepted(reply.header)
    readAnswer(source, { options, handlers, status })
  }
}

function readFailedReply({ status, header }: TransportReply, source: Source<Uint8Array>, { options, ports, handlers }: Exchange): void {
  const done = ({ text }: BodyText): void =>
    orError(handlers, () => {
      const body = text.slice(0, maxFailureBytes)
      handlers.onFailure(readFailure(options, { status, body, header, now: ports.clock.now() }))
    })
  source.read(collectText(source, maxFailureBytes, { done, fail: error => failReading(handlers, error, status) }))
}

/** Called if the connection breaks while the response is read. */
const failReading = (handlers: AnswerHandlers, error: unknown, status: number): void =>
  handlers.onFailure(sendFailure('unreadable', reasonOf(error), status))

interface AnswerContext {
  readonly options: SendOptions
  readonly handlers: AnswerHandlers
  readonly status: number
}

const readAnswer = (source: Source<Uint8Array>, context: AnswerContext): void =>
  source.read(detectShape(shape => readerOf(shape, source, context)))

function readerOf(shape: AnswerShape, source: Source<Uint8Array>, { options, handlers, status }: AnswerContext): Sink<Uint8Array> {
  if (shape === 'frames') return streamReader(source, options.dialect.frames?.() ?? readFrames(), handlers)
  if (shape === 'json') return bodyReader(source, handlers, status)
  source.cancel()
  let isTold = false
  const tell = (failure: SendFailure): void => {
    if (!isTold) handlers.onFailure(failure)
    isTold = true
  }
  const noAnswer = (): void =>
    tell(sendFailure('unreadable', shape === 'page' ? 'The provider sent a web page.' : 'The response is empty.', status))
  return { next: noAnswer, end: noAnswer, fail: error => tell(sendFailure('unreadable', reasonOf(error), status)) }
}

function bodyReader(source: Source<Uint8Array>, handlers: AnswerHandlers, status: number): Sink<Uint8Array> {
  const done = (text: BodyText): void =>
    orError(handlers, () => {
      const body = parseAnswer(text)
      if (typeof body === 'string') handlers.onFailure(sendFailure('unreadable', body, status))
      else handlers.onBody(body)
    })
  return collectText(source, answerLimits.wholeBytes, { done, fail: error => failReading(handlers, error, status) })
}

function streamReader<Read extends StreamRead>(
  source: Source<Read>,
  format: FrameFormat<Read>,
  { onStream, onError }: AnswerHandlers,
): Sink<Read> {
  try {
    return onStream(source, format)
  } catch (error) {
    source.cancel()
    onError(error)
    return { next: () => {}, end: () => {}, fail: () => {} }
  }
}

const readFailure = ({ dialect }: SendOptions, answer: FailedAnswer): SendFailure => dialect.decodeFailure(answer)

const ownFrames: FrameFormat<readonly Frame[]> = { push: frames => frames, end: () => [] }

const noHeader = (): undefined => undefined

/** Calls a provider that runs in this process. */
function sendLocally(options: SendOptions, { clock }: SendPorts, handlers: AnswerHandlers): void {
  const { provider } = options.candidate
  const answered = (reply: LocalReply | undefined): void => {
    if (!reply) {
      handlers.onFailure(sendFailure('unreachable', 'The provider function returned nothing.'))
      return
    }
    if ('frames' in reply) {
      const source = sourceOf(reply.frames[Symbol.asyncIterator]() as AsyncIterator<readonly Frame[], undefined>)
      if (options.signal.aborted) {
        source.cancel()
        return
      }
      handlers.onReading?.(source)
      handlers.onAccepted(noHeader)
      source.read(streamReader(source, ownFrames, handlers))
      return
    }
    if (reply.status >= 200 && reply.status < 300) {
      handlers.onAccepted(name => reply.headers?.[name])
      handlers.onBody(reply.body)
      return
    }
    const header = (name: string): string | undefined => reply.headers?.[name]
    const body = JSON.stringify(reply.body)
    handlers.onFailure(readFailure(options, { status: reply.status, body, header, now: clock.now() }))
  }
  const { body } = options.encoded
  const answering = provider.answer?.({ body, stream: options.stream, signal: options.signal })
  void answering?.then(reply => orError(handlers, () => answered(reply)), handlers.onError)
}

/** The error code of a failed request, in parentheses, or `''` if it has none. Contains no URL and no secret. */
function reasonOf(error: unknown): string {
  const code =
    error instanceof Error
      ? ((error as { readonly code?: unknown }).code ?? (error.cause as { readonly code?: unknown } | undefined)?.code)
      : undefined
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? `(${code})` : ''
}
