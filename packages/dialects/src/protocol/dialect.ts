import type { ErrorBody } from './error-body.ts'
import type { InferenceEvent } from './event.ts'
import type { Failure } from './failure.ts'
import type { Item } from './item.ts'
import type { MediaSupport } from './media-support.ts'
import type { Offer, Quirks } from './model.ts'
import type { InferenceRequest } from './request.ts'
import type { InferenceResponse, Warning } from './response.ts'
import type { DialectName, Frame, Json, JsonObject } from './wire.ts'

/** The client-facing half of a dialect: decodes requests and encodes responses. */
export interface ClientDialect {
  readonly name: DialectName
  /**
   * Throws a GatewayError (400) that names the invalid field. `header` accepts a lower-case name; only dialects with their own headers
   * use it.
   */
  decodeRequest(body: JsonObject, header?: (name: string) => string | undefined): InferenceRequest
  /** Decodes a token counting request, if the dialect has one. Fields that only matter for generation may be missing. */
  decodeCounting?(body: JsonObject, header?: (name: string) => string | undefined): InferenceRequest
  encodeResponse(response: InferenceResponse, request: InferenceRequest, metadata: ResponseMetadata): JsonObject
  /** Creates the encoder of one stream. It alone keeps the state of brackets, indexes, ids and sequence numbers. */
  encodeEvents(request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder
  encodeError(error: ErrorBody): JsonObject
  /**
   * Decodes an item of an earlier response, as the client received it, when a request refers to it by id. Undefined if the dialect has no
   * such references.
   */
  decodeItem?(body: JsonObject, path: string): Item
  /**
   * Fields that the dialect knows, by type of the wire object (`input_text`), or `type.field` for a nested object. Request parts without a
   * type are called `message`, `custom` (tools), `settings of reasoning` and `settings of text`. Other fields are not sent to a provider of
   * another dialect, and a warning names them. If undefined, there are no warnings.
   */
  readonly knownFields?: ReadonlyMap<string, readonly string[]>
  /** What happens to each response feature, by feature id. A warning names dropped features. If undefined, there are no warnings. */
  readonly outputFidelity?: Readonly<Record<string, Fate>>
  /** The frame that keeps an idle stream alive. Default: an SSE comment. */
  readonly keepAlive?: Frame
}

/** Encodes the events of one stream as frames. */
export interface EventEncoder {
  /** Encodes one batch, synchronously: one read from the provider becomes one write. */
  write(events: readonly InferenceEvent[]): readonly Frame[]
}

/**
 * What a dialect does with a feature of a request or response. `kept`: same field. `mapped`: another field, without loss. `approximated`:
 * the closest equivalent, with a warning. `dropped`: left out, with a warning. `refused`: content that the dialect cannot express, so the
 * offer is not called.
 */
export type Fate = 'kept' | 'mapped' | 'approximated' | 'dropped' | 'refused'

/** The provider-facing half of a dialect: encodes requests and decodes responses. */
export interface ProviderDialect<Name extends string = DialectName> {
  readonly name: Name
  /** Pure, because it runs again for every attempt. `quirks`: those of the provider and the offer, merged. */
  encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest
  /** Decodes a non-streamed response. A 200 with an error object becomes a response with the outcome `failed`. */
  decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse
  /** Creates the decoder of one stream. */
  decodeEvents(mapping?: ResponseMapping): EventDecoder
  /** Decodes a response with an error status. */
  decodeFailure(answer: FailedAnswer): Failure
  /**
   * The body field that grows with each turn. It is sent last, so that the body of one turn is a prefix of the next, as prompt caches
   * require. If undefined, fields are sent in encoding order.
   */
  readonly conversationField?: string
  /** Fields that differ with every request. They are sent after the conversation, for the same reason. */
  readonly requestFields?: readonly string[]
  /**
   * Whether a request in this dialect may carry reasoning state that the client received directly from the vendor, so that the gateway has
   * not sealed it. Default: false.
   */
  readonly acceptsNativeReasoningState?: boolean
  /** Whether earlier reasoning is sent back as plain text, so that sealed state must include the text. Default: false. */
  readonly returnsReasoningText?: boolean
  /**
   * Whether the dialect distinguishes summaries from raw reasoning, so that raw reasoning must not be sent as a summary. Default: false.
   */
  readonly hasReasoningSummaries?: boolean
  /**
   * Whether the API defines that the model continues a final assistant message (prefill). A request in this dialect that ends so is not
   * sent to a model that rejects it. Default: false.
   */
  readonly definesPrefill?: boolean
  /** What happens to each request feature, by feature id. If undefined, all are treated as mapped. */
  readonly fidelity?: Readonly<Record<string, Fate>>
  /** Images, files and audio that the dialect can express. Default: all. */
  readonly media?: MediaSupport
  /** Paths (with dots) of each prompt setting in an encoded body, by name of the setting. Used to report the values that were sent. */
  readonly settingPaths?: Readonly<Record<string, readonly string[]>>
  /** The smallest output limit that the dialect sends to an offer with these quirks. Default: no minimum. */
  readonly minOutputTokens?: (quirks: Quirks) => number | undefined
  /** Path below a base URL that ends with the version. */
  readonly path?: string | ((call: { readonly model: string; readonly stream: boolean }) => string)
  /** The header that carries the raw API key. Default: `authorization`, as a bearer token. */
  readonly keyHeader?: string
  /** Creates the reader that turns bytes into frames. Default: server-sent events. */
  readonly frames?: () => FrameReader
  /** The provider's token counter, if the dialect has one. */
  readonly counting?: {
    encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest
    /** The token count, or undefined if the response has none. */
    decode(body: JsonObject): number | undefined
  }
}

/** A provider request. */
export interface EncodedRequest {
  readonly body: JsonObject
  readonly warnings: readonly Warning[]
  /** Additional headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the response decoder must map back. */
  readonly mapping?: ResponseMapping
}

/** What was renamed or replaced in a request, so that the response can be mapped back to the client's names. */
export interface ResponseMapping {
  /** Tool names as sent → as the client knows them. Contains only names that differ. */
  readonly toolNames?: ReadonlyMap<string, string>
  /** Whether documents of the request are cited (Bedrock): each block of text is then a part, because its citations are those of the block. */
  readonly citesDocuments?: true
  /** The tool that stands in for the response schema: its arguments become the response text. */
  readonly answerTool?: string
  /** Tools that belong to a group, and the client's tool search, by the name they were sent under. */
  readonly groupedTools?: ReadonlyMap<string, { readonly namespace: string; readonly name: string } | 'tool_search'>
  /** By tool, property names as sent → as the client knows them. Contains only names that differ. */
  readonly propertyNames?: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Custom tools that were sent as functions: by the client's name, or for tools of a group by the name they were sent under. */
  readonly customTools?: ReadonlySet<string>
  /** The client's custom tools, by name as sent. A custom call of another name was run by the provider. If undefined, the client runs every custom call. */
  readonly clientCustomTools?: ReadonlySet<string>
}

/** Reads frames from the bytes of one stream. */
export interface FrameReader {
  /** Throws if a frame is too long or broken. */
  push(bytes: Uint8Array): readonly Frame[]
  /** Returns the remaining frames after the last bytes. */
  end(): readonly Frame[]
}

/** Decodes the frames of one stream. */
export interface EventDecoder {
  /** Returns no events after `finished`. */
  read(frames: readonly Frame[]): readonly InferenceEvent[]
  /** Called once, when the bytes end. Finishes open items, and emits `finished` if it was not emitted yet. */
  end(): readonly InferenceEvent[]
}

/** An HTTP response with an error status. */
export interface FailedAnswer {
  readonly status: number
  /** At most the first 64 kB. */
  readonly body: string
  readonly header: (name: string) => string | undefined
  /** Unix milliseconds, to resolve dates in headers. */
  readonly now: number
}

/** Fields that the gateway adds to a response. */
export interface ResponseMetadata {
  /** Response id: `resp_` plus characters that other dialects put after their own prefix. */
  readonly id: string
  /** Canonical id of the model that responded. */
  readonly model: string
  /** Unix seconds. */
  readonly created_at: number
  readonly completed_at?: number
  /** The gateway's own count of prompt tokens, used until the provider reports one. */
  readonly estimated_input_tokens?: number
  /** Returns a new item id with this prefix: `msg_…`, `fc_…`, `rs_…`. */
  readonly itemId: (prefix: string) => string
  /**
   * Claims an id that the provider gave to an item. False if another response of the workspace may already have it, since the id would then
   * stand for two items. If undefined, provider ids are used unchanged.
   */
  readonly claimId?: (id: string, type: Item['type']) => boolean
  /** The same for the items of a whole response, which are passed to `keepItems` in the same turn of the event loop. */
  readonly claimIdToKeep?: (id: string, type: Item['type']) => boolean
  /**
   * Stores the items of a response as the client receives them, so that later requests can refer to them by id. Called once, at the end of
   * a response that did not fail. If undefined, nothing is stored.
   */
  readonly keepItems?: (items: readonly JsonObject[]) => void
  /** Settings that were sent with a different value than the client's, by name (`reasoning.effort`). `null`: left out. */
  readonly used?: ReadonlyMap<string, Json>
  readonly routing?: {
    readonly provider: string
    readonly provider_model_id: string
    readonly model_canonical: string
    readonly routing_strategy: string
    readonly throughput_tps?: number
    /** `usd` is charged by the gateway; `byok_usd` is what the workspace pays its own provider, by list price. */
    readonly cost?: { readonly usd: number; readonly byok_usd?: number }
  }
  readonly warnings: readonly Warning[]
}
