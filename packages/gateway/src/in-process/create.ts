import type { Caller } from '@signalbox/core/access'
import { nounOf } from '@signalbox/core/access'
import { type CallOptions, leavable, type Reply } from '@signalbox/core/request'
import type { TokenCount } from '@signalbox/core/request/dry-run'
import { allFailedError } from '@signalbox/core/upstream'
import { GatewayError } from '@signalbox/dialects/errors'
import type { ClientDialect, EventEncoder, Failure, InferenceEvent, InferenceRequest } from '@signalbox/dialects/protocol'
import { type Frame, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { checkBody } from './body.ts'

/** The second argument of an endpoint: the caller (an API key, or the result of `gateway.authenticate`), headers and a signal. */
export type EndpointOptions = {
  /** Cancels the request: the loop ends at once, and the upstream connection closes once usage has arrived, after at most 5 s. */
  readonly signal?: AbortSignal
  /** Request headers that the dialect reads, such as `{ 'anthropic-beta': '…' }`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The conversation id, like the header `x-session-id`: its requests go to the provider that has the start of it in a prompt cache. */
  readonly session?: string
} & ({ readonly caller: Caller } | { readonly apiKey: string })

/** The parts of a gateway that the endpoints use. */
export interface EndpointPorts {
  authenticate(secret: string | undefined): Promise<Caller>
  infer(request: InferenceRequest, options: CallOptions): Reply
  countTokens(request: InferenceRequest, caller: Caller, options?: { readonly signal?: AbortSignal | undefined }): Promise<TokenCount>
}

export interface Shapes {
  /** The request body. */
  readonly body: object
  /** A complete response. */
  readonly whole: unknown
  /** One event of a stream. */
  readonly event: unknown
}

/** An in-process endpoint. It has method signatures, so that a gateway with known model ids is assignable to one without. */
export interface Endpoint<S extends Shapes> {
  /**
   * Creates a response in the shape of the HTTP endpoint. Failures are thrown as GatewayError: the promise of a stream rejects until
   * its first content arrives, and the loop throws after that. Leaving the loop cancels the request.
   */
  create(body: S['body'] & { readonly stream: true }, calling: EndpointOptions): Promise<AsyncIterable<S['event']>>
  create(body: S['body'] & { readonly stream?: false | null | undefined }, calling: EndpointOptions): Promise<S['whole']>
  create(body: S['body'], calling: EndpointOptions): Promise<S['whole'] | AsyncIterable<S['event']>>
}

/** Creates the endpoint of a client dialect, which may be loaded first. The output of the dialect's encoders gets its type here. */
export function createWith<S extends Shapes>(
  spoken: ClientDialect | (() => Promise<ClientDialect>),
  serving: EndpointPorts,
): Endpoint<S>['create'] {
  let known = typeof spoken === 'function' ? undefined : spoken
  const open = typeof spoken === 'function' ? spoken : async () => spoken
  function create(body: S['body'] & { readonly stream: true }, calling: EndpointOptions): Promise<AsyncIterable<S['event']>>
  function create(body: S['body'] & { readonly stream?: false | null | undefined }, calling: EndpointOptions): Promise<S['whole']>
  async function create(body: S['body'], calling: EndpointOptions): Promise<S['whole'] | AsyncIterable<S['event']>> {
    const caller = await callerOf(calling, serving)
    const header = headerReader(calling)
    known ??= await open()
    const dialect = known
    const request = dialect.decodeRequest(jsonOf(body), header)
    let answer: JsonObject | undefined
    const encode: CallOptions['encode'] = (response, metadata) => {
      answer = dialect.encodeResponse(response, request, metadata)
    }
    const reply = serving.infer(request, { caller, header, encode, signal: calling.signal })
    if (request.delivery === 'stream') {
      await reply.committed
      const encoder = dialect.encodeEvents(request, reply.metadata)
      return {
        [Symbol.asyncIterator]() {
          const source = reply.batches()
          return leavable(wireEvents(source, { encoder, reply, signal: calling.signal }), source)
        },
      }
    }
    const response = await reply.whole()
    const metadata = reply.metadata()
    answer ??= dialect.encodeResponse(response, request, metadata)
    const kept = reply.kept?.()
    if (kept) await kept
    // The caller may modify the response, but not the stored copy of its items.
    return dialect.decodeItem && metadata.keepItems ? copyJson(answer) : answer
  }
  return create
}

/** A deep copy. */
function copyJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map(copyJson)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, field === undefined ? field : copyJson(field)]))
}

/**
 * The caller of a request.
 *
 * @throws `invalid_api_key` (401), or `operation_not_allowed` (403) if its key lacks the scope
 */
export async function callerOf(calling: EndpointOptions, serving: EndpointPorts): Promise<Caller> {
  if (typeof calling !== 'object' || calling === null)
    throw new GatewayError('invalid_api_key', {
      message: 'The caller is missing. Pass `{ apiKey }` or `{ caller }` as the second argument.',
    })
  const known = 'caller' in calling ? calling.caller : undefined
  const caller = known ?? (await serving.authenticate('apiKey' in calling ? calling.apiKey : undefined))
  if (caller.scopes.has('inference:invoke')) return caller
  throw new GatewayError('operation_not_allowed', { message: `This ${nounOf(caller.keyId)} lacks the scope "inference:invoke".` })
}

/** The body, checked against the limits of the HTTP endpoints. */
export function jsonOf(body: object): JsonObject {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be an object.' })
  checkBody(body, { keys: true, texts: true })
  return body
}

export function headerReader({ headers, session }: EndpointOptions): (name: string) => string | undefined {
  const byName = new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  if (session !== undefined) byName.set('x-session-id', session)
  return name => byName.get(name)
}

interface WireOptions {
  readonly encoder: EventEncoder
  readonly reply: Reply
  readonly signal: AbortSignal | undefined
}

/** The events of a stream as objects of the dialect. Failures are thrown. */
async function* wireEvents(
  batches: AsyncIterator<readonly InferenceEvent[], undefined>,
  { encoder, reply, signal }: WireOptions,
): AsyncGenerator<unknown, void, undefined> {
  const next = signal ? untilAborted(batches, signal) : () => batches.next()
  try {
    let isOver = false
    for (let step = await next(); !step.done; step = await next()) {
      const last = step.value.at(-1)
      const failure = failureIn(last)
      const frames = written(failure ? step.value.slice(0, -1) : step.value, { encoder, reply })
      const keeping = reply.kept?.()
      if (keeping) await keeping
      for (const frame of frames) if (!isEnd(frame)) yield JSON.parse(frame.data)
      if (failure) throw allFailedError([failure])
      isOver = last?.type === 'finished'
    }
    // After an abort the loop must not end as if the response were complete.
    if (!isOver) throw allFailedError([{ kind: 'client_left', message: '' }])
  } finally {
    await batches.return?.()
  }
}

function written(batch: readonly InferenceEvent[], { encoder, reply }: Pick<WireOptions, 'encoder' | 'reply'>): readonly Frame[] {
  try {
    return encoder.write(batch)
  } catch (error) {
    reply.fail?.('internal_error')
    throw error
  }
}

/** Reads until the signal fires. The loop does not wait while the upstream is drained for its usage. */
const untilAborted =
  <T>(batches: AsyncIterator<T, undefined>, signal: AbortSignal) =>
  (): Promise<IteratorResult<T, undefined>> =>
    new Promise((resolve, reject) => {
      const leave = (): void => resolve({ done: true, value: undefined })
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
      batches
        .next()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', leave))
    })

const failureIn = (last: InferenceEvent | undefined): Failure | undefined =>
  last?.type === 'finished' && last.outcome.status === 'failed' ? last.outcome.error : undefined

const isEnd = ({ data }: Frame): boolean => data === '[DONE]'
