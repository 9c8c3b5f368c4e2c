import type { ErrorBody } from './error-body.ts'
import type { InferenceEvent } from './event.ts'
import type { Failure } from './failure.ts'
import type { Offer, Quirks } from './model.ts'
import type { InferenceRequest } from './request.ts'
import type { InferenceResponse, Warning } from './response.ts'
import type { DialectName, Frame, JsonObject } from './wire.ts'

/** The half that faces callers: reads their requests, writes our replies. */
export interface ClientDialect {
  readonly name: DialectName
  /** Throws a GatewayError (400) that names the field. `header`: by lower-case name; languages that say things in headers read them there. */
  decodeRequest(body: JsonObject, header?: (name: string) => string | undefined): InferenceRequest
  /** A request to count tokens only, in languages that have one: what an answer alone needs may be missing. */
  decodeCounting?(body: JsonObject, header?: (name: string) => string | undefined): InferenceRequest
  encodeResponse(response: InferenceResponse, request: InferenceRequest, stamp: Stamp): JsonObject
  /** A fresh encoder per stream. It owns brackets, indexes, ids and sequence numbers; nobody else does. */
  encodeEvents(request: InferenceRequest, stamp: () => Stamp): EventEncoder
  encodeError(error: ErrorBody): JsonObject
  /** What keeps a silent stream alive. Default: an SSE comment. */
  readonly keepAlive?: Frame
}

export interface EventEncoder {
  /** Synchronous on a batch: what one upstream read brought is one write. */
  write(events: readonly InferenceEvent[]): readonly Frame[]
}

/** The half that faces providers: writes our requests, reads their replies. */
export interface ProviderDialect {
  readonly name: DialectName
  /** Pure. It runs again for every attempt, so it may not touch what it is given. `quirks`: the provider's and the offer's, merged. */
  encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest
  /** A 200 that holds an error object comes back as a response whose outcome is `failed`. */
  decodeResponse(body: JsonObject, reading?: Reading): InferenceResponse
  /** A fresh decoder per stream. */
  decodeEvents(reading?: Reading): EventDecoder
  decodeFailure(answer: FailedAnswer): Failure
  /** How bytes become frames, where they are no server-sent events. A fresh reader per stream. */
  readonly frames?: () => FrameReader
  /** The provider's own token counter, if the language has one. */
  readonly counting?: {
    encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest
    /** Nothing where the answer holds no count. */
    decode(body: JsonObject): number | undefined
  }
}

export interface EncodedRequest {
  readonly body: JsonObject
  readonly warnings: readonly Warning[]
  /** Beside those that every call has. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the reader of the answer must know of the request. */
  readonly reading?: Reading
}

/** What was said otherwise than the caller said it, so that the answer can be turned back. */
export interface Reading {
  /** Tool names as sent → as the caller knows them, for those that differ. */
  readonly toolNames?: ReadonlyMap<string, string>
  /** The tool whose arguments are the answer's text: a JSON schema for the answer is kept through it. */
  readonly answerTool?: string
}

export interface FrameReader {
  /** Throws where a frame grows too long or is broken. */
  push(bytes: Uint8Array): readonly Frame[]
  /** What is left when the bytes have ended. */
  end(): readonly Frame[]
}

export interface EventDecoder {
  /** Tells nothing after `finished`. */
  read(frames: readonly Frame[]): readonly InferenceEvent[]
  /** Called once, when the bytes stop: closes what is open and says `finished` if that was not said. */
  end(): readonly InferenceEvent[]
}

export interface FailedAnswer {
  readonly status: number
  /** At most the first 64 kB. */
  readonly body: string
  readonly header: (name: string) => string | undefined
  /** Unix milliseconds, for dates in headers. */
  readonly now: number
}

/** What the gateway adds to a reply that no provider could know. */
export interface Stamp {
  /** Our response id: `resp_` and the same characters that other languages put behind a prefix of theirs. */
  readonly id: string
  /** The canonical id of the model that answered. */
  readonly model: string
  /** Unix seconds. */
  readonly created_at: number
  readonly completed_at?: number
  /** Mints an item id: `msg_…`, `fc_…`, `rs_…`. */
  readonly itemId: (prefix: string) => string
  readonly routing?: {
    readonly provider: string
    readonly provider_model_id: string
    readonly model_canonical: string
    readonly routing_strategy: string
    readonly throughput_tps?: number
    /** Charged; `byok_usd`: what the workspace pays to its provider itself, by the list price. */
    readonly cost?: { readonly usd: number; readonly byok_usd?: number }
  }
  readonly warnings: readonly Warning[]
}
