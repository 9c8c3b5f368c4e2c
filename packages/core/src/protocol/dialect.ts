import type { ErrorBody } from './error-body.ts'
import type { InferenceEvent } from './event.ts'
import type { Failure } from './failure.ts'
import type { Item } from './item.ts'
import type { MediaSupport } from './media-support.ts'
import type { Offer, Quirks } from './model.ts'
import type { InferenceRequest } from './request.ts'
import type { InferenceResponse, Warning } from './response.ts'
import type { DialectName, Frame, Json, JsonObject } from './wire.ts'

/** The half of a dialect that faces clients: it decodes their requests and encodes replies. */
export interface ClientDialect {
  readonly name: DialectName
  /** Throws a GatewayError (400) that names the field. `header` takes a lower-case name; only dialects with headers of their own use it. */
  decodeRequest(body: JsonObject, header?: (name: string) => string | undefined): InferenceRequest
  /** Decodes a request to count tokens, if the dialect has one. Fields that only an answer needs may be missing. */
  decodeCounting?(body: JsonObject, header?: (name: string) => string | undefined): InferenceRequest
  encodeResponse(response: InferenceResponse, request: InferenceRequest, stamp: Stamp): JsonObject
  /** Makes the encoder of one stream. Its brackets, indexes, ids and sequence numbers come from it alone. */
  encodeEvents(request: InferenceRequest, stamp: () => Stamp): EventEncoder
  encodeError(error: ErrorBody): JsonObject
  /**
   * Decodes an item of an earlier answer, as the client got it, where a request refers to it by id. Absent: the dialect has no such
   * references.
   */
  decodeItem?(body: JsonObject, path: string): Item
  /**
   * The fields that the dialect knows, by type of the wire object (`input_text`), with `.field` for an object inside; parts of the
   * request without a type are `message`, `custom` (tools), `settings of reasoning` and `settings of text`. A provider of another
   * dialect does not get the other fields, and a warning names them. Absent: no warnings.
   */
  readonly knownFields?: ReadonlyMap<string, readonly string[]>
  /** Its fates of the features of an answer, by feature id; what is dropped is named in a warning. Absent: not known, and no warnings. */
  readonly outputFidelity?: Readonly<Record<string, Fate>>
  /** The frame that keeps a silent stream alive. Default: an SSE comment. */
  readonly keepAlive?: Frame
}

/** Encodes the events of one stream as frames. */
export interface EventEncoder {
  /** Encodes one batch, synchronously: what one upstream read brought becomes one write. */
  write(events: readonly InferenceEvent[]): readonly Frame[]
}

/**
 * What a dialect makes of a feature of a request or an answer. `kept`: the same field. `mapped`: another field, and nothing is lost.
 * `approximated`: the nearest that the dialect has, with a warning. `dropped`: left out, with a warning. `refused`: content that the
 * dialect cannot say; the offer is not asked.
 */
export type Fate = 'kept' | 'mapped' | 'approximated' | 'dropped' | 'refused'

/** The half of a dialect that faces providers: it encodes requests and decodes replies. */
export interface ProviderDialect {
  readonly name: DialectName
  /** Pure: it runs again for every attempt. `quirks`: those of the provider and of the offer, merged. */
  encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest
  /** Decodes a whole answer. A 200 that holds an error object becomes a response with the outcome `failed`. */
  decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse
  /** Makes the decoder of one stream. */
  decodeEvents(mapping?: ResponseMapping): EventDecoder
  /** Decodes an answer with an error status. */
  decodeFailure(answer: FailedAnswer): Failure
  /**
   * The field of a body that grows with each turn. It is sent last, so that the body of one turn begins the body of the next, as prompt
   * caches want it. Absent: fields are sent in the order in which they were encoded.
   */
  readonly conversationField?: string
  /** Fields that say something of one request only. They are sent behind the conversation, for the same reason. */
  readonly requestFields?: readonly string[]
  /**
   * Whether a request in this dialect may carry reasoning state that its vendor issued and the gateway has not sealed: what a
   * client got from the vendor itself. Default: no.
   */
  readonly acceptsNativeReasoningState?: boolean
  /** Whether earlier reasoning goes back as plain text, so that sealed state holds the text too. Default: no. */
  readonly returnsReasoningText?: boolean
  /** Whether the dialect tells summaries apart from raw reasoning, so that raw reasoning is not sent as a summary. Default: no. */
  readonly hasReasoningSummaries?: boolean
  /** Its fates of the features of a request, by feature id. Absent: not known, and taken as mapped. */
  readonly fidelity?: Readonly<Record<string, Fate>>
  /** Which images, files and audio it can say. Absent: not known, and taken as all. */
  readonly media?: MediaSupport
  /** Where an encoded body holds each setting of a prompt, by its name there: paths with dots. Read for the echo of values used. */
  readonly settingPaths?: Readonly<Record<string, readonly string[]>>
  /** The smallest cap on an answer that it sends to an offer with these quirks. Absent: any. */
  readonly minOutputTokens?: (quirks: Quirks) => number | undefined
  /** Where it is served below a base URL that ends with the version. */
  readonly path?: string | ((call: { readonly model: string; readonly stream: boolean }) => string)
  /** The header that takes an API key as it is. Absent: `authorization`, as a bearer token. */
  readonly keyHeader?: string
  /** Makes the reader that turns bytes into frames. Default: server-sent events. */
  readonly frames?: () => FrameReader
  /** The provider's own token counter, if the language has one. */
  readonly counting?: {
    encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest
    /** Undefined if the answer holds no count. */
    decode(body: JsonObject): number | undefined
  }
}

/** A request as it is sent to a provider. */
export interface EncodedRequest {
  readonly body: JsonObject
  readonly warnings: readonly Warning[]
  /** Headers beside those that every call has, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the decoder of the answer must map back. */
  readonly mapping?: ResponseMapping
}

/** What was renamed or replaced in a request, so that the response can be mapped back to the client's names. */
export interface ResponseMapping {
  /** Tool names as sent → as the client knows them, for those that differ. */
  readonly toolNames?: ReadonlyMap<string, string>
  /** The tool that stands for the JSON schema of the answer: its arguments are the answer's text. */
  readonly answerTool?: string
  /** Tools of groups, by the name under which each was sent. */
  readonly groupedTools?: ReadonlyMap<string, { readonly namespace: string; readonly name: string }>
  /** Custom tools that were sent as functions, under the client's names; those of groups under the names that were sent. */
  readonly customTools?: ReadonlySet<string>
}

/** Reads frames from the bytes of one stream. */
export interface FrameReader {
  /** Throws if a frame is too long or broken. */
  push(bytes: Uint8Array): readonly Frame[]
  /** Returns what is left when the bytes have ended. */
  end(): readonly Frame[]
}

/** Decodes the frames of one stream. */
export interface EventDecoder {
  /** Returns no events after `finished`. */
  read(frames: readonly Frame[]): readonly InferenceEvent[]
  /** Called once, when the bytes stop: finishes open items, and emits `finished` unless it was emitted. */
  end(): readonly InferenceEvent[]
}

/** An HTTP response with an error status. */
export interface FailedAnswer {
  readonly status: number
  /** At most the first 64 kB. */
  readonly body: string
  readonly header: (name: string) => string | undefined
  /** Unix milliseconds, for dates in headers. */
  readonly now: number
}

/** What the gateway adds to a reply. */
export interface Stamp {
  /** The response id: `resp_`, and characters that other dialects put behind a prefix of their own. */
  readonly id: string
  /** The canonical id of the model that answered. */
  readonly model: string
  /** Unix seconds. */
  readonly created_at: number
  readonly completed_at?: number
  /** Tokens of the prompt as the gateway counts them, for what is written before the provider has named its own count. */
  readonly estimated_input_tokens?: number
  /** Returns a new item id with this prefix: `msg_…`, `fc_…`, `rs_…`. */
  readonly itemId: (prefix: string) => string
  /**
   * Takes an id that the provider gave to an item. False: another answer of the workspace may have it, so that it would stand for two
   * items. Absent: the ids of providers are used.
   */
  readonly claimId?: (id: string, type: Item['type']) => boolean
  /**
   * Keeps the items of an answer as the client gets them, so that a later request can refer to them by id. Called once, at the end of
   * an answer that did not fail. Absent: nothing is kept.
   */
  readonly keepItems?: (items: readonly JsonObject[]) => void
  /** Settings of the request that were sent with another value than the client's, by name (`reasoning.effort`). `null`: left out. */
  readonly used?: ReadonlyMap<string, Json>
  readonly routing?: {
    readonly provider: string
    readonly provider_model_id: string
    readonly model_canonical: string
    readonly routing_strategy: string
    readonly throughput_tps?: number
    /** `usd` is charged; `byok_usd` is what the workspace pays its own provider, by the list price. */
    readonly cost?: { readonly usd: number; readonly byok_usd?: number }
  }
  readonly warnings: readonly Warning[]
}
