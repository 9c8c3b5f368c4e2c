import type { Caller } from '../access/caller.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { ClientDialect, EventEncoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { type Frame, isObject, type JsonObject } from '../protocol/wire.ts'
import type { TokenCount } from '../request/dry-run/count-tokens.ts'
import { type CallOptions, leavable, type Reply } from '../request/reply.ts'
import { allFailed } from '../upstream/error-message.ts'
import { checkBody } from './body.ts'

/** Who calls, as over HTTP: by a key, or by what `gateway.authenticate` gave for one. */
export type Calling = {
  /** Leaving: the loop ends at once. The provider is hung up on as soon as it has told its usage, after 5 s at the latest. */
  readonly signal?: AbortSignal
  /** What the language says in headers, as in `{ 'anthropic-beta': '…' }`. */
  readonly headers?: Readonly<Record<string, string>>
} & ({ readonly caller: Caller } | { readonly apiKey: string })

/** What the functions need of the gateway. */
export interface Serving {
  authenticate(secret: string | undefined): Promise<Caller>
  infer(request: InferenceRequest, options: CallOptions): Reply
  countTokens(request: InferenceRequest, caller: Caller, options?: { readonly signal?: AbortSignal | undefined }): Promise<TokenCount>
}

export interface Shapes {
  /** Of a request. */
  readonly body: object
  /** Of a whole answer. */
  readonly whole: unknown
  /** Of one event of a stream. */
  readonly event: unknown
}

/**
 * One answer, in the language and the shapes of its HTTP endpoint. Everything that goes wrong is a thrown GatewayError: of
 * a stream before its first content by the promise, later in the loop. Leaving the loop leaves the provider.
 */
export interface Create<S extends Shapes> {
  (body: S['body'] & { readonly stream: true }, calling: Calling): Promise<AsyncIterable<S['event']>>
  (body: S['body'] & { readonly stream?: false | null | undefined }, calling: Calling): Promise<S['whole']>
  (body: S['body'], calling: Calling): Promise<S['whole'] | AsyncIterable<S['event']>>
}

/** Makes the function of a language. What the encoders write is known by its type here and nowhere else. */
export function createWith<S extends Shapes>(dialect: ClientDialect, serving: Serving): Create<S> {
  function create(body: S['body'] & { readonly stream: true }, calling: Calling): Promise<AsyncIterable<S['event']>>
  function create(body: S['body'] & { readonly stream?: false | null | undefined }, calling: Calling): Promise<S['whole']>
  async function create(body: S['body'], calling: Calling): Promise<S['whole'] | AsyncIterable<S['event']>> {
    const caller = await callerOf(calling, serving)
    const request = dialect.decodeRequest(jsonOf(body), headerOf(calling))
    const reply = serving.infer(request, { caller, ...(calling.signal && { signal: calling.signal }) })
    if (request.delivery === 'stream') {
      await reply.committed
      const encoder = dialect.encodeEvents(request, reply.stamp)
      return {
        [Symbol.asyncIterator]() {
          const source = reply.batches()
          return leavable(wireEvents(source, encoder, calling.signal), source)
        },
      }
    }
    return dialect.encodeResponse(await reply.whole(), request, reply.stamp())
  }
  return create
}

/** Throws where there is nobody, or somebody who may not. */
export async function callerOf(calling: Calling, serving: Serving): Promise<Caller> {
  if (typeof calling !== 'object' || calling === null)
    throw new GatewayError('invalid_api_key', { message: 'Nobody calls. Say who in the second argument: `{ apiKey }` or `{ caller }`.' })
  const known = 'caller' in calling ? calling.caller : undefined
  const caller = known ?? (await serving.authenticate('apiKey' in calling ? calling.apiKey : undefined))
  if (caller.scopes.has('inference:invoke')) return caller
  throw new GatewayError('operation_not_allowed', { message: 'This key lacks the scope "inference:invoke".' })
}

/** The body, held to what bodies of the endpoints are held to. */
export function jsonOf(body: object): JsonObject {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be an object.' })
  checkBody(body, { keys: true, texts: true })
  return body
}

export function headerOf({ headers }: Calling): (name: string) => string | undefined {
  const byName = new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  return name => byName.get(name)
}

/** The events of a stream as its frames hold them, one by one. A failure is thrown, not told. */
async function* wireEvents(
  batches: AsyncIterator<readonly InferenceEvent[], undefined>,
  encoder: EventEncoder,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void, undefined> {
  const next = signal ? untilAborted(batches, signal) : () => batches.next()
  try {
    let isOver = false
    for (let step = await next(); !step.done; step = await next()) {
      const last = step.value.at(-1)
      const failure = failureOf(last)
      for (const frame of encoder.write(failure ? step.value.slice(0, -1) : step.value)) if (!isEnd(frame)) yield JSON.parse(frame.data)
      if (failure) throw allFailed([failure])
      isOver = last?.type === 'finished'
    }
    // Who left by the signal may still be in the loop, and must not take what came so far for the whole.
    if (!isOver) throw allFailed([{ kind: 'client_left', message: '' }])
  } finally {
    await batches.return?.()
  }
}

/** Reads until the signal fires: the answer itself may be read on for its usage, and keeps nobody waiting. */
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

const failureOf = (last: InferenceEvent | undefined): Failure | undefined =>
  last?.type === 'finished' && last.outcome.status === 'failed' ? last.outcome.error : undefined

const isEnd = ({ data }: Frame): boolean => data === '[DONE]'
