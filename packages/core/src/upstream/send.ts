import { readHeadroom } from '@signalbox/dialects/common'
import type {
  AuthorizationContext,
  EncodedRequest,
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

/** The functions for large bodies, which are loaded with the first one. */
export type LargeEncoding = typeof import('./encode-large-json.ts')

/** One request to a provider. */
export interface ProviderRequest {
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
  /** The headers of the response report the remaining rate limits. */
  onHeadroom?(headroom: Headroom, header: TransportReply['header']): void
  /** Reading the response has begun. `cancel` stops it, even if the transport ignores its signal. */
  onReading?(source: Pick<Source<unknown>, 'cancel'>): void
  /** The provider has accepted the request: from now on it may bill. */
  onAccepted(header: TransportReply['header']): void
  onBody(body: JsonObject): void
  /** Returns the sink for the stream. */
  onStream<Read extends StreamRead>(source: Pick<Source<Read>, 'pause' | 'resume' | 'cancel'>, format: FrameFormat<Read>): Sink<Read>
  onFailure(failure: SendFailure): void
  /** Dialect or provider code threw. Errors of `authorize` are failures instead, because it may need the network. */
  onError(error: unknown): void
}

/** One exchange with a provider: its response becomes frames, a body, or a failure, whatever its content type. */
export class Exchange {
  readonly #request: ProviderRequest
  readonly #engine: { readonly transport: Transport; readonly clock: Clock }
  readonly #handlers: AnswerHandlers

  constructor(request: ProviderRequest, engine: { readonly transport: Transport; readonly clock: Clock }, handlers: AnswerHandlers) {
    this.#request = request
    this.#engine = engine
    this.#handlers = handlers
  }

  /** Sends the request, or calls the provider if it runs in this process. Called once. */
  send(): void {
    const { candidate, encoded, stream, signal, large, now } = this.#request
    const { provider, offer, credential } = candidate
    const { api, model } = offer
    if (provider.answer) {
      void provider.answer({ body: encoded.body, stream, signal }).then(
        reply => this.#guard(() => this.#readLocal(reply)),
        error => this.#handlers.onError(error),
      )
      return
    }
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      'user-agent': 'signalbox',
      ...encoded.headers,
    }
    const { transport, clock } = this.#engine
    const url = this.#request.url ?? provider.endpoint({ api, model, stream, credential })
    const bytes = transport.takesBytes ? large?.encodeLargeJson(encoded.body) : undefined
    const body = bytes ? '' : JSON.stringify(encoded.body)
    const request: TransportRequest = bytes
      ? { url, method: 'POST', headers, signal, bytes }
      : { url, method: 'POST', headers, signal, body }
    try {
      const call = { api, url, body, transport, now: clock.now(), monotonic: now ?? clock.monotonic(), signal }
      const authorizing = provider.authorize(headers, credential, bytes ? withLateBody(call, encoded.body) : call)
      if (authorizing) void authorizing.then(() => this.#transmit(request)).catch(error => this.#fail('unreachable', reasonOf(error)))
      else this.#transmit(request)
    } catch (error) {
      this.#fail('unreachable', reasonOf(error))
    }
  }

  #transmit(request: TransportRequest): void {
    void this.#engine.transport(request).then(
      reply => this.#guard(() => this.#read(reply)),
      error => this.#fail('unreachable', reasonOf(error)),
    )
  }

  /** Calls code of dialects, which may throw. */
  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#handlers.onError(error)
    }
  }

  #fail(kind: Failure['kind'], message: string, status?: number): void {
    this.#handlers.onFailure(status === undefined ? { kind, message } : { kind, message, status })
  }

  /** Reads the response of a provider that runs in this process. */
  #readLocal(reply: LocalReply | undefined): void {
    const { signal, dialect } = this.#request
    if (!reply) this.#fail('unreachable', 'The provider function returned nothing.')
    else if ('frames' in reply) {
      const source = sourceOf(reply.frames[Symbol.asyncIterator]() as AsyncIterator<readonly Frame[], undefined>)
      if (signal.aborted) {
        source.cancel()
        return
      }
      this.#handlers.onReading?.(source)
      this.#handlers.onAccepted(() => undefined)
      source.read(this.#streamSink(source, ownFrames))
    } else {
      const { status, body } = reply
      const header = (name: string): string | undefined => reply.headers?.[name]
      if (status >= 200 && status < 300) {
        this.#handlers.onAccepted(header)
        this.#handlers.onBody(body)
      } else this.#handlers.onFailure(dialect.decodeFailure({ status, body: JSON.stringify(body), header, now: this.#engine.clock.now() }))
    }
  }

  #read({ status, header, body }: TransportReply): void {
    const { quirks, signal, dialect } = this.#request
    const { rateLimits } = quirks
    const headroom = rateLimits && this.#handlers.onHeadroom && readHeadroom(header, rateLimits, this.#engine.clock.now())
    if (headroom) this.#handlers.onHeadroom?.(headroom, header)
    const source = asSource(body)
    if (signal.aborted) {
      source.cancel()
      return
    }
    this.#handlers.onReading?.(source)
    if (status >= 300 && status < 400) {
      source.cancel()
      this.#fail('unreadable', 'The provider sent a redirect, and redirects are not followed.', status)
    } else if (status < 200 || status >= 300) {
      const done = ({ text }: BodyText): void => {
        const body = text.slice(0, maxFailureBytes)
        this.#handlers.onFailure(dialect.decodeFailure({ status, body, header, now: this.#engine.clock.now() }))
      }
      source.read(this.#textSink(source, maxFailureBytes, status, done))
    } else {
      this.#handlers.onAccepted(header)
      source.read(detectShape(shape => this.#sinkFor(shape, source, status)))
    }
  }

  #sinkFor(shape: AnswerShape, source: Source<Uint8Array>, status: number): Sink<Uint8Array> {
    const { dialect } = this.#request
    if (shape === 'frames') return this.#streamSink(source, dialect.frames?.() ?? readFrames())
    if (shape === 'json')
      return this.#textSink(source, answerLimits.wholeBytes, status, text => {
        const body = parseAnswer(text)
        if (typeof body === 'string') this.#fail('unreadable', body, status)
        else this.#handlers.onBody(body)
      })
    source.cancel()
    let hasFailed = false
    const fail = (message: string): void => {
      if (!hasFailed) this.#fail('unreadable', message, status)
      hasFailed = true
    }
    const noAnswer = (): void => fail(shape === 'page' ? 'The provider sent a web page.' : 'The response is empty.')
    return { next: noAnswer, end: noAnswer, fail: error => fail(reasonOf(error)) }
  }

  /** A sink that collects up to `limit` bytes of text. Its `fail` is called if the connection breaks. */
  #textSink(source: Source<Uint8Array>, limit: number, status: number, read: (text: BodyText) => void): Sink<Uint8Array> {
    const done = (text: BodyText): void => this.#guard(() => read(text))
    return collectText(source, limit, { done, fail: error => this.#fail('unreadable', reasonOf(error), status) })
  }

  #streamSink<Read extends StreamRead>(source: Source<Read>, format: FrameFormat<Read>): Sink<Read> {
    try {
      return this.#handlers.onStream(source, format)
    } catch (error) {
      source.cancel()
      this.#handlers.onError(error)
      return { next: () => {}, end: () => {}, fail: () => {} }
    }
  }
}

/** A call whose body becomes text only if it is signed. */
const withLateBody = (call: AuthorizationContext, content: JsonObject): AuthorizationContext => ({
  ...call,
  get body() {
    return JSON.stringify(content)
  },
})

const ownFrames: FrameFormat<readonly Frame[]> = { push: frames => frames, end: () => [] }

/** The error code of a failed request, in parentheses, or `''` if it has none. Contains no URL and no secret. */
function reasonOf(error: unknown): string {
  const code =
    error instanceof Error
      ? ((error as { readonly code?: unknown }).code ?? (error.cause as { readonly code?: unknown } | undefined)?.code)
      : undefined
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? `(${code})` : ''
}
