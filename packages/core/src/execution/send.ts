import { readHeadroom } from '../dialects/headroom.ts'
import { answerLimits } from '../protocol/answer-limits.ts'
import type { EncodedRequest, FailedAnswer, ProviderDialect } from '../protocol/dialect.ts'
import type { Failure } from '../protocol/failure.ts'
import type { Headroom } from '../protocol/headroom.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Frame, JsonObject } from '../protocol/wire.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Clock, Transport, TransportReply } from '../runtime/ports.ts'
import { readFrames } from '../sse/read.ts'
import { maxFailureBytes, readJson, readText, sniff } from './body.ts'

export interface SendPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** Told with every answer of a provider whose headers say what is left of its limits. */
  readonly onHeadroom?: (candidate: Candidate, headroom: Headroom, header: TransportReply['header']) => void
}

export interface Call {
  readonly candidate: Candidate
  readonly dialect: ProviderDialect
  readonly encoded: EncodedRequest
  readonly quirks: Quirks
  readonly stream: boolean
  readonly signal: AbortSignal
  /** Default: where the provider answers. */
  readonly url?: string
  /** Called once the provider has taken the request: from here on it may bill. */
  readonly onAccepted: () => void
}

/** What is read, and how a read becomes frames: none where it completed no event. Split, so that a read costs one promise. */
export interface Frames<Read = unknown> {
  readonly source: AsyncIterator<Read, undefined>
  /** Throws where an event grows too long. */
  readonly toFrames: (read: Read) => readonly Frame[]
  /** What is left when the source has ended. */
  readonly last: () => readonly Frame[]
  /** Committed: what comes now is handed on, and no longer held in memory. */
  readonly relax: () => void
}

export type Sent =
  | { readonly ok: true; readonly frames: Frames }
  | { readonly ok: true; readonly body: JsonObject }
  | { readonly ok: false; readonly failure: Omit<Failure, 'provider'> }

const fail = (kind: Failure['kind'], message: string, status?: number): Sent => ({
  ok: false,
  failure: { kind, message, ...(status !== undefined && { status }) },
})

/** One exchange with a provider: whatever it sends, and however it labels it, becomes frames, a body, or a failure. */
export async function send(call: Call, { transport, clock, onHeadroom }: SendPorts): Promise<Sent> {
  const { provider, offer, credential } = call.candidate
  if (provider.answer) return sendLocally(call, clock)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: call.stream ? 'text/event-stream' : 'application/json',
    'user-agent': 'signalbox',
    ...call.encoded.headers,
  }
  const { dialect, provider_model_id: model } = offer
  const url = call.url ?? provider.endpoint({ dialect, model, stream: call.stream, credential })
  const body = JSON.stringify(call.encoded.body)
  let reply: TransportReply
  try {
    const proof = provider.authorize(headers, credential, {
      dialect: offer.dialect,
      url,
      body,
      transport,
      now: clock.now(),
      monotonic: clock.monotonic(),
      signal: call.signal,
    })
    if (proof) await proof
    reply = await transport({ url, method: 'POST', headers, body, signal: call.signal })
  } catch (error) {
    return fail('unreachable', reasonOf(error))
  }
  const { rate_limits } = call.quirks
  const headroom = rate_limits && onHeadroom ? readHeadroom(reply.header, rate_limits, clock.now()) : undefined
  if (headroom) onHeadroom?.(call.candidate, headroom, reply.header)
  return readReply(reply, call, clock)
}

async function readReply(reply: TransportReply, call: Call, clock: Clock): Promise<Sent> {
  const { status } = reply
  try {
    if (status >= 300 && status < 400) {
      await reply.body.return?.()
      return fail('unreadable', 'It redirected the request, and redirects are not followed.', status)
    }
    if (status < 200 || status >= 300) {
      const { text } = await readText(reply.body, maxFailureBytes)
      const body = text.slice(0, maxFailureBytes)
      return { ok: false, failure: judge(call, { status, body, header: reply.header, now: clock.now() }) }
    }
    call.onAccepted()
    const { shape, body } = await sniff(reply.body)
    if (shape === 'frames') return { ok: true, frames: framesOf(body, call) as Frames }
    if (shape === 'json') {
      const json = await readJson(body)
      return typeof json === 'string' ? fail('unreadable', json, status) : { ok: true, body: json }
    }
    await body.return?.()
    return fail('unreadable', shape === 'page' ? 'It sent a web page.' : 'The answer is empty.', status)
  } catch (error) {
    // The connection broke while the answer was being read.
    return fail('unreadable', reasonOf(error), status)
  }
}

const judge = ({ dialect }: Call, answer: FailedAnswer): Omit<Failure, 'provider'> => dialect.decodeFailure(answer)

/** Bytes that a stream may hold back before its commit, and in all. A whole answer that comes as a stream is held to its end. */
const mostHeld = { stream: answerLimits.heldBytes, whole: answerLimits.gatheredBytes }

function framesOf(source: AsyncIterator<Uint8Array, undefined>, { dialect, stream }: Call): Frames<Uint8Array> {
  const reader = dialect.frames?.() ?? readFrames()
  let size = 0
  let limit: number = stream ? mostHeld.stream : mostHeld.whole
  return {
    source,
    toFrames(bytes) {
      size += bytes.byteLength
      if (size > limit) throw new Error(`The stream is longer than ${limit} bytes.`)
      return reader.push(bytes)
    },
    last: reader.end,
    relax: () => {
      limit = answerLimits.streamedBytes
    },
  }
}

async function sendLocally(call: Call, clock: Clock): Promise<Sent> {
  const reply = await call.candidate.provider.answer?.({ body: call.encoded.body, stream: call.stream, signal: call.signal })
  if (!reply) return fail('unreachable', 'It has no answer.')
  if ('frames' in reply) {
    call.onAccepted()
    const source = reply.frames[Symbol.asyncIterator]() as AsyncIterator<readonly Frame[], undefined>
    return {
      ok: true,
      frames: { source, toFrames: frames => frames, last: () => [], relax: () => {} } satisfies Frames<readonly Frame[]> as Frames,
    }
  }
  if (reply.status >= 200 && reply.status < 300) {
    call.onAccepted()
    return { ok: true, body: reply.body }
  }
  const header = (name: string): string | undefined => reply.headers?.[name]
  return { ok: false, failure: judge(call, { status: reply.status, body: JSON.stringify(reply.body), header, now: clock.now() }) }
}

/** Why no answer came, in a few words that hold no address and no secret. */
function reasonOf(error: unknown): string {
  const code =
    error instanceof Error
      ? ((error as { readonly code?: unknown }).code ?? (error.cause as { readonly code?: unknown } | undefined)?.code)
      : undefined
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? `(${code})` : ''
}
