import type { Stamp } from '../../protocol/dialect.ts'
import type { FunctionCallItem, Item, Part, ReasoningItem } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Outcome, Usage } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { idUnder } from '../ids.ts'
import { objectIn } from '../json.ts'
import { renameWarnings } from './field-names.ts'
import { dialect, originalBody } from './wire.ts'

// The message object and its blocks: what an answer is in this language, whole or at the ends of a stream.

/** Who answers. What a provider of this language said of it beside goes along. */
export const headOf = (stamp: Stamp, original: JsonObject | undefined): JsonObject => ({
  ...(original && unreadOf(original)),
  id: idUnder('msg_', stamp),
  type: 'message',
  role: 'assistant',
  model: stamp.model,
})

/** Said elsewhere, or ours to say. */
const held: ReadonlySet<string> = new Set([
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

/** Fields of a message that we carry without reading them. */
export const unreadOf = (original: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(original).filter(([field]) => !held.has(field)))

/** What an answer holds that decides how it ended. */
export interface Said {
  readonly refused: boolean
  readonly called: boolean
}

export const isRefusal = (item: Item): boolean => item.type === 'message' && item.content.some(({ type }) => type === 'refusal')

/** Why it ended, in the provider's own words where it speaks this language. */
export function stopOf(outcome: Outcome, said: Said, original: JsonObject | undefined): JsonObject {
  const { stop_reason: reason, stop_sequence = null, stop_details, container } = original ?? {}
  // A call that we turned into the text of the answer is none to the client.
  const fits = typeof reason === 'string' && (reason !== 'tool_use' || said.called)
  return {
    stop_reason: fits ? reason : reasonOf(outcome, said),
    stop_sequence,
    ...(stop_details !== undefined && { stop_details }),
    ...(container !== undefined && { container }),
  }
}

function reasonOf(outcome: Outcome, { refused, called }: Said): string {
  if (outcome.status === 'incomplete') return outcome.reason === 'content_filter' ? 'refusal' : 'max_tokens'
  if (refused) return 'refusal'
  return called ? 'tool_use' : 'end_turn'
}

/** Here the input is what no cache knew. Counts that we do not read stay as they were told. */
export function writeUsage(usage: Usage | undefined, original: JsonObject | undefined): JsonObject {
  const told = isObject(original?.usage) ? original.usage : {}
  if (!usage) return { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0, ...told }
  const { input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens } = usage
  return {
    ...told,
    input_tokens: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens,
    ...(reasoning_tokens > 0 && { output_tokens_details: { thinking_tokens: reasoning_tokens } }),
  }
}

/** What only a gateway knows. */
export const stampOn = ({ routing, warnings }: Stamp, request: InferenceRequest): JsonObject => ({
  ...(routing && { routing_metadata: { ...routing } }),
  ...(warnings.length > 0 && { warnings: renameWarnings(warnings, request).map(warning => ({ ...warning })) }),
})

/** An item of an answer as blocks; what another language alone can say is none. */
export function blocksOf(item: Item): readonly JsonObject[] {
  if (item.type === 'message') return item.content.flatMap(textBlock)
  if (item.type === 'function_call') return [{ ...callBlock(item), input: inputOf(item.arguments) }]
  if (item.type === 'reasoning') return thoughtBlocks(item)
  return item.type === 'native' && item.dialect === dialect ? [item.body] : []
}

/** An empty text is none: whoever sent it back would be refused. */
function textBlock(part: Part): readonly JsonObject[] {
  if (part.type === 'native') return part.dialect === dialect ? [part.body] : []
  if (part.type === 'refusal') return part.refusal === '' ? [] : [{ type: 'text', text: part.refusal, citations: null }]
  if (part.type !== 'text') return []
  const known = originalBody(part)
  const links = (part.annotations ?? []).map(citationOf).filter(citation => citation !== undefined)
  const citations = Array.isArray(known?.citations) ? known.citations : links
  if (part.text === '' && citations.length === 0) return []
  return [{ ...known, type: 'text', text: part.text, citations: citations.length > 0 ? citations : null }]
}

/** A link in the form of a search result. What its maker alone can fill in stays empty. */
export function citationOf(annotation: JsonObject): JsonObject | undefined {
  const { type, url, title } = annotation
  const known = originalBody(annotation)
  if (known) return known
  if (type !== 'url_citation' || typeof url !== 'string') return undefined
  return {
    type: 'web_search_result_location',
    url,
    title: typeof title === 'string' ? title : url,
    cited_text: '',
    encrypted_index: '',
  }
}

/** Thoughts in all the wordings that there are: summaries, then the raw. */
export const thoughtOf = ({ summary, content = [] }: ReasoningItem): string =>
  [...summary, ...content].filter(piece => piece !== '').join(betweenThoughts)

export const betweenThoughts = '\n\n'

function thoughtBlocks(item: ReasoningItem): readonly JsonObject[] {
  const { encrypted_content = '', redacted } = item
  if (redacted) return encrypted_content === '' ? [] : [redactedBlock(encrypted_content)]
  const thinking = thoughtOf(item)
  return thinking === '' && encrypted_content === '' ? [] : [{ type: 'thinking', thinking, signature: encrypted_content }]
}

export const redactedBlock = (data: string): JsonObject => ({ type: 'redacted_thinking', data })

/** As it is announced: the input is told after it. */
export const callBlock = (item: FunctionCallItem): JsonObject => ({
  ...originalBody(item),
  type: 'tool_use',
  id: item.call_id,
  name: item.name,
  input: {},
})

/** Here arguments are an object. What is none, cut short or never was, is kept under `_raw`. */
function inputOf(written: string): JsonObject {
  return written === '' ? {} : (objectIn(written) ?? { _raw: written })
}
