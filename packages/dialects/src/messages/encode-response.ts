import { withoutSteps } from '../common/extra-steps.ts'
import { imageMarkdown, imageUrlOf } from '../common/generated-image.ts'
import { idUnder, requestIdOf } from '../common/ids.ts'
import { objectIn, stringOf } from '../common/json.ts'
import { outputFeatureOf } from '../common/output-features.ts'
import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { FunctionCallItem, Item, Part, ReasoningItem } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { HostedCalls, InferenceResponse, Outcome, Usage } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { encodeFailure } from './errors.ts'
import { renameWarnings } from './field-names.ts'
import { dialect, originalBody } from './wire.ts'

// Encodes the message object and its content blocks, both for a response and for the two ends of a stream.

export function encodeResponse(response: InferenceResponse, request: InferenceRequest, metadata: ResponseMetadata): JsonObject {
  const { output, outcome, usage } = response
  if (outcome.status === 'failed') return encodeFailure(outcome.error, request, requestIdOf(metadata))
  const original = originalBody(response)
  const contents = { hasRefusal: output.some(isRefusal), hasCall: output.some(({ type }) => type === 'function_call') }
  return {
    ...messageHead(metadata, original),
    content: output.flatMap(encodeItem),
    ...stopFields(outcome, contents, original),
    usage: encodeMessageUsage(usage, original),
    ...encodeGatewayFields(metadata, request),
  }
}

/** The fields at the start of a message, including those that a provider of this dialect added. */
export const messageHead = (metadata: ResponseMetadata, original: JsonObject | undefined): JsonObject => ({
  ...(original && passthroughFields(original)),
  id: idUnder('msg_', metadata),
  type: 'message',
  role: 'assistant',
  model: metadata.model,
})

/** Fields that are written elsewhere, or only by the gateway. */
const messageFields: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'usage',
  'container',
  'routing_metadata',
  'warnings',
])

/** Unread fields of a message that are passed through. */
export const passthroughFields = (original: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(original).filter(([field]) => !messageFields.has(field)))

/** Facts about a message that determine its stop reason. */
interface MessageContents {
  readonly hasRefusal: boolean
  readonly hasCall: boolean
}

export const isRefusal = (item: Item): boolean => item.type === 'message' && item.content.some(({ type }) => type === 'refusal')

/** The stop reason and its details. A provider of this dialect's own values are kept. */
export function stopFields(outcome: Outcome, contents: MessageContents, original: JsonObject | undefined): JsonObject {
  const { stop_reason: reason, stop_sequence = null, stop_details, container } = original ?? {}
  // A call that became the response text is not a tool use for the client.
  const isValid = typeof reason === 'string' && (reason !== 'tool_use' || contents.hasCall)
  return {
    stop_reason: isValid ? reason : stopReason(outcome, contents),
    stop_sequence,
    ...(stop_details !== undefined && { stop_details }),
    ...(container !== undefined && { container }),
  }
}

function stopReason(outcome: Outcome, { hasRefusal, hasCall }: MessageContents): string {
  if (outcome.status === 'incomplete') return outcome.reason === 'content_filter' ? 'refusal' : 'max_tokens'
  if (hasRefusal) return 'refusal'
  return hasCall ? 'tool_use' : 'end_turn'
}

/**
 * Encodes token counts. `input_tokens` excludes cached tokens in this dialect. Unmodelled counts are kept unchanged. Steps that `iterations`
 * lists are not in the totals, by which clients tell how full the context is.
 */
export function encodeMessageUsage(usage: Usage | undefined, original: JsonObject | undefined): JsonObject {
  const received = isObject(original?.usage) ? original.usage : {}
  if (!usage) return { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0, ...received }
  const own = received.iterations === undefined ? usage : withoutSteps(usage)
  const { input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, hosted_calls, options } = own
  return {
    ...options,
    ...received,
    input_tokens: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens,
    ...(reasoning_tokens > 0 && { output_tokens_details: { thinking_tokens: reasoning_tokens } }),
    ...(hosted_calls && received.server_tool_use === undefined && { server_tool_use: encodeHostedCalls(hosted_calls) }),
  }
}

const encodeHostedCalls = ({ web_search = 0, web_fetch = 0 }: HostedCalls): JsonObject => ({
  web_search_requests: web_search,
  web_fetch_requests: web_fetch,
})

/** Routing metadata and warnings, which the gateway adds. */
export const encodeGatewayFields = ({ routing, warnings }: ResponseMetadata, request: InferenceRequest): JsonObject => ({
  ...(routing && { routing_metadata: { ...routing } }),
  ...(warnings.length > 0 && { warnings: renameWarnings(warnings, request).map(warning => ({ ...warning })) }),
})

/** The content blocks of an item; none for a native item of another dialect. */
function encodeItem(item: Item): readonly JsonObject[] {
  if (item.type === 'message') return item.content.flatMap(encodeOutputPart)
  if (item.type === 'function_call') return [{ ...toolUseBlock(item), input: toolInput(item) }]
  if (item.type === 'reasoning') return thinkingBlocks(item)
  if (item.type === 'native' && item.dialect === dialect) return [item.body]
  const image = imageUrlOf(item)
  return image === undefined ? [] : [{ type: 'text', text: imageMarkdown(image), citations: null }]
}

/** Encodes a part. Empty text becomes no block, because a client that sent it back would be rejected. */
function encodeOutputPart(part: Part): readonly JsonObject[] {
  if (part.type === 'native') return part.dialect === dialect ? [part.body] : []
  if (part.type === 'refusal') return part.refusal === '' ? [] : [{ type: 'text', text: part.refusal, citations: null }]
  if (part.type !== 'text') return []
  const original = originalBody(part)
  const encoded = (part.annotations ?? []).map(encodeCitation).filter(citation => citation !== undefined)
  const citations = Array.isArray(original?.citations) ? original.citations : encoded
  if (part.text === '' && citations.length === 0) return []
  return [{ ...original, type: 'text', text: part.text, citations: citations.length > 0 ? citations : null }]
}

/** Encodes a link as a search result. Fields that only the search tool can fill are empty. */
export function encodeCitation(annotation: JsonObject): JsonObject | undefined {
  const { type, url, title } = annotation
  const original = originalBody(annotation)
  if (original) return original
  if (outputFeatureOf(stringOf(type)) === 'documentCitation') return annotation
  if (type !== 'url_citation' || typeof url !== 'string') return undefined
  return {
    type: 'web_search_result_location',
    url,
    title: typeof title === 'string' ? title : url,
    cited_text: '',
    encrypted_index: '',
  }
}

/** The text of a reasoning item: summaries, then raw content. */
export const thinkingText = ({ summary, content = [] }: ReasoningItem): string =>
  [...summary, ...content].filter(text => text !== '').join(reasoningSeparator)

export const reasoningSeparator = '\n\n'

function thinkingBlocks(item: ReasoningItem): readonly JsonObject[] {
  const { encrypted_content = '', redacted } = item
  if (redacted) return encrypted_content === '' ? [] : [redactedBlock(encrypted_content)]
  const thinking = thinkingText(item)
  return thinking === '' && encrypted_content === '' ? [] : [{ type: 'thinking', thinking, signature: encrypted_content }]
}

export const redactedBlock = (data: string): JsonObject => ({ type: 'redacted_thinking', data })

/** The block at its start in a stream, without input. */
export const toolUseBlock = (item: FunctionCallItem): JsonObject => ({
  ...originalBody(item),
  type: 'tool_use',
  id: item.call_id,
  name: item.name,
  input: {},
})

/** The input field that holds the text of a custom tool call, because every input is an object in this dialect. */
export const customInput = 'input'

/** Arguments as an object, which this dialect requires. Text that is not a JSON object is put under `_raw`. */
function toolInput({ arguments: written, custom }: FunctionCallItem): JsonObject {
  if (custom) return { [customInput]: written }
  return written === '' ? {} : (objectIn(written) ?? { _raw: written })
}
