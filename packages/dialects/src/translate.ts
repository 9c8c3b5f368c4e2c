import { encodeForOffer } from './clients/encode-for-offer.ts'
import { outputLosses } from './clients/output-losses.ts'
import { deriveCallId } from './common/ids.ts'
import { isContentLost } from './common/part-warnings.ts'
import { GatewayError } from './errors/gateway-error.ts'
import type { ClientDialect, EncodedRequest, ProviderDialect, ResponseMetadata } from './protocol/dialect.ts'
import { closingEvents, hasEnd, type InferenceEvent } from './protocol/event.ts'
import type { Quirks } from './protocol/model.ts'
import type { InferenceRequest } from './protocol/request.ts'
import type { InferenceResponse, Warning } from './protocol/response.ts'
import type { JsonObject } from './protocol/wire.ts'
import { readFrames } from './sse/read.ts'
import { writeFrames } from './sse/write.ts'

// Translation between APIs without a gateway: no storage, no key, no network, no clock. Requests come in an API of clients and go out in one
// of providers; responses the other way.

/** The API that a request is translated from and the one that it is translated to. */
export interface RequestTranslationOptions {
  readonly from: ClientDialect
  readonly to: ProviderDialect
  /** The provider's name of the model. Default: `model` of the body. */
  readonly model?: string
  /** How the provider departs from the API, as an offer states it. Default: not at all. */
  readonly quirks?: Quirks
}

/** A request in another API. */
export interface TranslatedRequest {
  readonly body: JsonObject
  /** Path below a base URL that ends with the version, as in `/messages`. Undefined if the API does not define one. */
  readonly path: string | undefined
  /** Additional headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** What the other API cannot express, each as a sentence with the field. Empty if nothing is lost. */
  readonly losses: readonly Warning[]
  /** Whether the client asked for a stream. */
  readonly stream: boolean
  /** The request in the internal format, and what was renamed in it: what the translation of its response needs. */
  readonly context: TranslationContext
}

/** What the translation of a response knows of its request. */
interface TranslationContext {
  readonly request: InferenceRequest
  readonly mapping: EncodedRequest['mapping']
}

/**
 * Translates the body of a request from one API to another.
 *
 * @example
 * const request = translateRequest(body, { from: chatClient, to: messagesProvider })
 * console.log(request.body, request.losses)
 * @throws {GatewayError} 400: a field is invalid, or the other API cannot express content of the request. The message names the field.
 */
export function translateRequest(body: JsonObject, { from, to, model, quirks = {} }: RequestTranslationOptions): TranslatedRequest {
  const request = from.decodeRequest(body)
  const stream = request.delivery === 'stream'
  const name = model ?? request.routing.models[0]
  const encoded = encodeForOffer(to, request, { offer: { provider: '', model: name, api: to.name }, quirks })
  const refused = encoded.warnings.find(isContentLost)
  if (refused) throw new GatewayError('capability_mismatch', { message: refused.message, param: refused.param || undefined })
  return {
    body: encoded.body,
    path: typeof to.path === 'function' ? to.path({ model: name, stream }) : to.path,
    headers: encoded.headers ?? {},
    losses: encoded.warnings,
    stream,
    context: { request, mapping: encoded.mapping },
  }
}

/** The API that a response is translated from and the one that it is translated to. */
export interface ResponseTranslationOptions {
  readonly from: ProviderDialect
  readonly to: ClientDialect
  /** The translated request that is answered: the names of its tools are restored, and its settings repeated where the API does so. */
  readonly request: TranslatedRequest
}

/** A response in another API. */
export interface TranslatedResponse {
  readonly body: JsonObject
  /** What the client's API cannot express. Empty if nothing is lost. */
  readonly losses: readonly Warning[]
}

/**
 * Translates the body of a whole response back to the API of its request.
 *
 * @example
 * const { body, losses } = translateResponse(await answer.json(), { from: messagesProvider, to: chatClient, request })
 * @throws {GatewayError} 502 `provider_error`: the response says that the request failed, or cannot be read.
 */
export function translateResponse(body: JsonObject, { from, to, request }: ResponseTranslationOptions): TranslatedResponse {
  const { context } = request
  const response = from.decodeResponse(body, context.mapping)
  if (response.outcome.status === 'failed')
    throw new GatewayError('provider_error', { message: response.outcome.error.message || 'The response could not be read.' })
  const losses = outputLosses(to, from.name)
  for (const item of response.output) losses.look(item)
  if (response.unmodeled) losses.lookBeside(response.unmodeled)
  const warnings = losses.warnings()
  return { body: to.encodeResponse(response, context.request, metadataOf(response, [...request.losses, ...warnings])), losses: warnings }
}

/** A streamed response in another API. */
export interface TranslatedStream {
  /** The stream as the client's API sends it: server-sent events. */
  readonly body: ReadableStream<Uint8Array>
  /** What the client's API could not express of the stream so far. Complete when the stream has ended. */
  readonly losses: () => readonly Warning[]
}

/**
 * Translates the bytes of a streamed response back to the API of its request. Each piece is translated as it arrives; cancelling the
 * translation cancels the source.
 *
 * @example
 * const { body } = translateStream(answer.body, { from: messagesProvider, to: chatClient, request })
 * const reply = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
 */
export function translateStream(
  source: AsyncIterable<Uint8Array>,
  { from, to, request: { context, losses: requestLosses } }: ResponseTranslationOptions,
): TranslatedStream {
  const reader = from.frames?.() ?? readFrames()
  const decoder = from.decodeEvents(context.mapping)
  const losses = outputLosses(to, from.name)
  let metadata = metadataOf({ id: '', model: context.request.routing.models[0], created_at: 0 }, [])
  const encoder = to.encodeEvents(context.request, () => ({ ...metadata, warnings: [...requestLosses, ...losses.warnings()] }))
  const encode = (events: readonly InferenceEvent[]): Uint8Array => {
    for (const event of events) {
      if (event.type === 'started') metadata = metadataOf(event, [])
      else if (event.type === 'item_finished') losses.look(event.item)
      else if (event.type === 'finished' && event.unmodeled) losses.lookBeside(event.unmodeled)
    }
    return new TextEncoder().encode(writeFrames(encoder.write(events)))
  }
  const pieces = source[Symbol.asyncIterator]()
  /** The events of the next piece. The last ones close the response, also if the source breaks off or cannot be read. */
  const next = async (): Promise<readonly InferenceEvent[]> => {
    let events: readonly InferenceEvent[] = []
    try {
      const { done, value } = await pieces.next()
      events = decoder.read(done ? reader.end() : reader.push(value))
      if (!done || hasEnd(events)) return events
    } catch {
      // The client learns of it by the event that closes the response.
    }
    return [...events, ...closingEvents(() => decoder.end())]
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let events: readonly InferenceEvent[]
      let bytes: Uint8Array
      // A piece may be part of an event, and `pull` is not called again before something is given.
      do {
        events = await next()
        bytes = encode(events)
      } while (bytes.length === 0 && !hasEnd(events))
      if (bytes.length > 0) controller.enqueue(bytes)
      if (!hasEnd(events)) return
      controller.close()
      await pieces.return?.()
    },
    async cancel() {
      await pieces.return?.()
    },
  })
  return { body, losses: () => losses.warnings() }
}

/** Ids are derived from the provider's, so that a translation is pure: the same response has the same ids. */
function metadataOf(
  { id, model, created_at }: Pick<InferenceResponse, 'id' | 'model' | 'created_at'>,
  warnings: readonly Warning[],
): ResponseMetadata {
  const own = id.slice(id.indexOf('_') + 1) || deriveCallId(model, created_at).slice('call_'.length)
  let items = 0
  return { id: `resp_${own}`, model, created_at, itemId: prefix => `${prefix}${own}_${items++}`, warnings }
}
