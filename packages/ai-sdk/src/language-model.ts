import { APICallError, type LanguageModelV4, type LanguageModelV4CallOptions, type LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Caller } from '@signalbox/core/access'
import type { CallOptions, Reply } from '@signalbox/core/request'
import { allFailedError } from '@signalbox/core/upstream'
import { budgetHeaders, errorBody, GatewayError, isGatewayError, isRetryPointless, retryWaitMs } from '@signalbox/dialects/errors'
import { type InferenceRequest, type JsonObject, own } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import { callerOf } from '@signalbox/gateway/in-process'
import { decodeCallOptions, encodeError, encodeResult, PartWriter } from './dialect/index.ts'
import { specificationVersion } from './dialect/wire.ts'

/** The caller, and the defaults of all calls. */
export interface ModelSettings {
  /** An API key of the gateway (`ak_…`). A call may name another in its `authorization` header. */
  readonly apiKey?: string
  /** The result of `gateway.authenticate`, instead of a key. */
  readonly caller?: Caller
  /** Headers of every call, as in `{ 'anthropic-beta': '…' }`. */
  readonly headers?: Readonly<Record<string, string>>
  /** `providerOptions` of every call. Those of a call take precedence, namespace by namespace and option by option. */
  readonly providerOptions?: NonNullable<LanguageModelV4CallOptions['providerOptions']>
  /**
   * URLs that are passed to the provider unchanged, by media type. Default: none, so that the AI SDK downloads files and any provider can
   * accept them.
   *
   * @example { 'image/*': [/^https:/] }
   */
  readonly supportedUrls?: Record<string, RegExp[]>
}

/** A language model of the gateway, as the AI SDK calls it. */
export const createLanguageModel = (gateway: Gateway, modelId: string, settings: ModelSettings): LanguageModelV4 => ({
  specificationVersion,
  provider: 'signalbox',
  modelId,
  supportedUrls: settings.supportedUrls ?? {},
  async doGenerate(options) {
    const call = { modelId, stream: false, options }
    try {
      const { request, reply, headers, encoded } = await beginCall(gateway, settings, call)
      const response = await reply.whole()
      const result = encoded() ?? encodeResult(response, request, reply.metadata())
      return { ...result, response: { ...result.response, headers } }
    } catch (error) {
      throw callError(error, call)
    }
  },
  async doStream(options) {
    const call = { modelId, stream: true, options }
    try {
      const { request, reply, headers } = await beginCall(gateway, settings, call)
      await reply.committed
      const writer = new PartWriter(request, {
        metadata: () => reply.metadata(),
        encodeFailure: failure => callError(allFailedError([failure]), call),
      })
      return { stream: partStream(reply, writer, options.abortSignal), response: { headers } }
    } catch (error) {
      throw callError(error, call)
    }
  },
})

/** One model call. */
interface ModelCall {
  readonly modelId: string
  readonly stream: boolean
  readonly options: LanguageModelV4CallOptions
}

interface StartedCall {
  readonly request: InferenceRequest
  readonly reply: Reply
  /** Headers as over HTTP. */
  readonly headers: Record<string, string>
  /** The whole response, which is encoded while the request is settled. */
  readonly encoded: () => ReturnType<typeof encodeResult> | undefined
}

async function beginCall(gateway: Gateway, settings: ModelSettings, { modelId, stream, options }: ModelCall): Promise<StartedCall> {
  const header = headerReader(settings, options)
  const caller = await callerOf(callerOptions(settings, header('authorization')), gateway)
  const merged = { ...options, providerOptions: mergeOptions(settings.providerOptions, options.providerOptions) }
  // The decoder also accepts what JSON cannot express: bytes, URLs and undefined.
  const request = decodeCallOptions(merged as unknown as JsonObject, { modelId, stream, header })
  const requestId = gateway.ids.uuid()
  const { abortSignal: signal } = options
  let encoded: ReturnType<typeof encodeResult> | undefined
  const encode: CallOptions['encode'] = (response, metadata) => {
    encoded = encodeResult(response, request, metadata)
  }
  const reply = gateway.infer(request, { caller, requestId, encode, signal })
  return { request, reply, headers: { 'x-request-id': requestId }, encoded: () => encoded }
}

function headerReader({ headers }: ModelSettings, options: LanguageModelV4CallOptions): (name: string) => string | undefined {
  const byName = new Map<string, string>()
  for (const [name, value] of [...Object.entries(headers ?? {}), ...Object.entries(options.headers ?? {})])
    if (value !== undefined) byName.set(name.toLowerCase(), value)
  return name => byName.get(name)
}

function callerOptions({ apiKey, caller }: ModelSettings, authorization: string | undefined): Parameters<typeof callerOf>[0] {
  const named = authorization?.replace(/^bearer +/i, '')
  if (named !== undefined) return { apiKey: named }
  if (caller) return { caller }
  if (apiKey !== undefined) return { apiKey }
  throw new GatewayError('invalid_api_key', {
    message: 'The call has no API key: give one as `signalbox(gateway, { apiKey })`, or as the header `authorization` of the call.',
  })
}

type ProviderOptions = LanguageModelV4CallOptions['providerOptions']

function mergeOptions(defaults: ProviderOptions = {}, given: ProviderOptions = {}): NonNullable<ProviderOptions> {
  const names = new Set([...Object.keys(defaults), ...Object.keys(given)])
  return Object.fromEntries([...names].map(name => [name, { ...own(defaults, name), ...own(given, name) }]))
}

/**
 * The parts of an answer as they come. The gateway pushes and is paused while nothing is read; a cancelled or aborted stream closes
 * the call to the provider.
 */
function partStream(reply: Reply, writer: PartWriter, signal?: AbortSignal): ReadableStream<LanguageModelV4StreamPart> {
  const events = reply.events()
  let isOver = false
  let onAbort: (() => void) | undefined
  const finish = (): boolean => {
    if (isOver) return false
    isOver = true
    if (onAbort) signal?.removeEventListener('abort', onAbort)
    return true
  }
  const leave = (): void => {
    events.cancel()
    reply.leave().catch(() => {})
  }
  return new ReadableStream({
    start(controller) {
      const fail = (error: unknown): void => {
        if (!finish()) return
        leave()
        controller.error(error)
      }
      onAbort = () => fail(signal?.reason)
      if (signal?.aborted) return onAbort()
      signal?.addEventListener('abort', onAbort, { once: true })
      events.read({
        next(batch) {
          if (isOver) return
          try {
            for (const part of writer.write(batch)) controller.enqueue(part)
          } catch (error) {
            reply.fail?.('internal_error')
            fail(error)
          }
          if ((controller.desiredSize ?? 0) <= 0) events.pause()
        },
        end() {
          // The gateway hears of an abort, too, and may end its events first: the answer is not complete then.
          if (signal?.aborted) fail(signal.reason)
          else if (finish()) controller.close()
        },
        fail,
      })
    },
    pull: () => events.resume(),
    cancel() {
      if (finish()) leave()
    },
  })
}

/** Whether the same request may succeed later. */
const isPassing = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

/**
 * Converts a gateway error to the AI SDK's APICallError, with status, body, and whether the SDK should retry. After an abort, returns the
 * signal's reason, which the SDK recognizes by name.
 */
function callError(error: unknown, { modelId, options }: ModelCall): unknown {
  const { abortSignal } = options
  if (abortSignal?.aborted) return abortSignal.reason
  if (!isGatewayError(error)) return error
  const waitMs = retryWaitMs(error)
  const body = callErrorBody(error)
  return new APICallError({
    message: body.error.message,
    url: `signalbox:${encodeURIComponent(modelId)}`,
    requestBodyValues: options,
    statusCode: error.status,
    responseHeaders: {
      ...(waitMs !== undefined && { 'retry-after-ms': String(Math.max(1, Math.ceil(waitMs))) }),
      ...budgetHeaders(error.facts.budget),
    },
    responseBody: JSON.stringify(body),
    data: body,
    isRetryable: isPassing(error.status) && !isRetryPointless(error),
    cause: error,
  })
}

/** The error body with the types of `/v1`. Those of `/v4/ai` are only for `@ai-sdk/gateway`, which selects its error classes by them. */
function callErrorBody(error: GatewayError) {
  const body = encodeError(errorBody(error))
  return { ...body, error: { ...body.error, type: error.type } }
}
