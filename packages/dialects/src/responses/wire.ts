import type { UsageFields } from '../common/usage-fields.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'

export const dialect = 'responses'

export const usageFields: UsageFields = {
  input: ['input_tokens'],
  output: ['output_tokens'],
  cached: ['input_tokens_details.cached_tokens'],
  cacheWrite: ['input_tokens_details.cache_write_tokens', 'input_tokens_details.cache_creation_tokens'],
  reasoning: ['output_tokens_details.reasoning_tokens'],
  longWrite: ['input_tokens_details.cache_write_tokens_details.ttl_12h_tokens'],
  unbilled: {
    'input_tokens_details.text_tokens': 'a part of the input, at the input price',
    'input_tokens_details.image_tokens': 'a part of the input, at the input price',
    'input_tokens_details.audio_tokens': 'a part of the input; no offer of this dialect hears',
    'input_tokens_details.cache_write_tokens_details': 'cache writes by lifetime: those of 12 hours are read',
    'input_tokens_details.orchestration_input_tokens': 'a part of the input: tokens of subagents',
    'input_tokens_details.orchestration_input_cached_tokens': 'a part of the cached input: tokens of subagents',
    'output_tokens_details.text_tokens': 'a part of the output, at the output price',
    'output_tokens_details.image_tokens': 'a part of the output, at the output price',
    'output_tokens_details.audio_tokens': 'a part of the output; no offer of this dialect speaks',
    'output_tokens_details.orchestration_output_tokens': 'a part of the output: tokens of subagents',
    cost: 'the bill of the vendor itself (Perplexity)',
    cost_in_usd_ticks: 'the bill of the vendor itself (xAI)',
    num_sources_used: 'sources of searches, which are counted by their calls (xAI)',
    num_server_side_tools_used: 'calls of hosted tools, which are counted by their items (xAI)',
    server_side_tool_usage_details: 'calls of hosted tools, which are counted by their items (xAI)',
    tool_calls_details: 'calls of hosted tools, which are counted by their items (Perplexity)',
  },
}

export interface HostedEvent {
  /** Whether it comes before any content. */
  readonly preamble: boolean
  /** The type of the item that it refers to; undefined for audio. */
  readonly item: string | undefined
}

/**
 * Events of hosted tools, which are passed through without decoding. Together with those that encode-stream.ts writes, they are the closed
 * list that SDKs know: any other name breaks their stream helpers, and so does an event about an item of another type.
 */
export const hostedEvents: ReadonlyMap<string, HostedEvent> = new Map([
  ...family('web_search_call', '', { preamble: ['in_progress', 'searching'], content: ['completed'] }),
  ...family('file_search_call', '', { preamble: ['in_progress', 'searching'], content: ['completed'] }),
  ...family('code_interpreter_call', '', { preamble: ['in_progress', 'interpreting'], content: ['completed'] }),
  ...family('code_interpreter_call', '_code', { content: ['delta', 'done'] }),
  ...family('image_generation_call', '', { preamble: ['in_progress', 'generating'], content: ['partial_image', 'completed'] }),
  ...family('mcp_list_tools', '', { preamble: ['in_progress'], content: ['completed', 'failed'] }),
  ...family('mcp_call', '', { preamble: ['in_progress'], content: ['completed', 'failed'] }),
  ...family('mcp_call', '_arguments', { content: ['delta', 'done'] }),
  ...family('shell_call', '_command', { content: ['added', 'delta', 'done'] }),
  ...family('shell_call_output', '_content', { content: ['delta', 'done'] }),
  ...family(undefined, 'audio', { content: ['delta', 'done'] }),
  ...family(undefined, 'audio.transcript', { content: ['delta', 'done'] }),
])

interface Steps {
  readonly preamble?: readonly string[]
  readonly content: readonly string[]
}

function family(item: string | undefined, suffix: string, { preamble = [], content }: Steps): readonly (readonly [string, HostedEvent])[] {
  const stem = `response.${item ?? ''}${suffix}`
  return [
    ...preamble.map(step => [`${stem}.${step}`, { preamble: true, item }] as const),
    ...content.map(step => [`${stem}.${step}`, { preamble: false, item }] as const),
  ]
}

/** Whether a native event is sent to clients. Events of hosted tools and of message parts that are not decoded are. */
export const isPublicEvent = (name: string): boolean =>
  hostedEvents.has(name) || name === 'response.content_part.added' || name === 'response.content_part.done'

/** The wire format of one kind of part. */
export interface PartFormat {
  /** Prefix of the events that open and close a part. */
  readonly bracket: string
  /** Prefix of the events about its text. */
  readonly stem: string
  readonly deltaEvent: string
  /** The field that holds the part's number. */
  readonly numberField: 'content_index' | 'summary_index'
  /** The field of `….done` that contains the text. */
  readonly textField: 'text' | 'refusal'
  readonly encode: (
    text: string,
    extras: { readonly annotations: readonly JsonObject[]; readonly logprobs: readonly JsonObject[] },
  ) => JsonObject
}

export type PartKind = 'text' | 'refusal' | 'reasoning' | 'summary'

export const partFormats: Readonly<Record<PartKind, PartFormat>> = {
  text: {
    bracket: 'response.content_part',
    stem: 'response.output_text',
    deltaEvent: 'response.output_text.delta',
    numberField: 'content_index',
    textField: 'text',
    encode: (text, { annotations, logprobs }) => ({ type: 'output_text', text, annotations, logprobs }),
  },
  refusal: {
    bracket: 'response.content_part',
    stem: 'response.refusal',
    deltaEvent: 'response.refusal.delta',
    numberField: 'content_index',
    textField: 'refusal',
    encode: refusal => ({ type: 'refusal', refusal }),
  },
  reasoning: {
    bracket: 'response.content_part',
    stem: 'response.reasoning_text',
    deltaEvent: 'response.reasoning_text.delta',
    numberField: 'content_index',
    textField: 'text',
    encode: text => ({ type: 'reasoning_text', text }),
  },
  summary: {
    bracket: 'response.reasoning_summary_part',
    stem: 'response.reasoning_summary_text',
    deltaEvent: 'response.reasoning_summary_text.delta',
    numberField: 'summary_index',
    textField: 'text',
    encode: text => ({ type: 'summary_text', text }),
  },
}

export const indexOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
