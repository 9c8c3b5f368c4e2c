import type { Json, JsonObject } from '../../protocol/wire.ts'

export const dialect = 'responses'

export interface HostedEvent {
  /** It only announces work. */
  readonly preamble: boolean
  /** The type of item that it is about; sound is about none. */
  readonly item: string | undefined
}

/**
 * Events of hosted tools, which we carry but do not read. Together with what stream-out.ts writes itself this is the closed
 * list that SDKs know: one name outside it stops their stream helpers, and so does one about an item of another type.
 */
export const hostedEvents: ReadonlyMap<string, HostedEvent> = new Map([
  ...family('web_search_call', '', { announcing: ['in_progress', 'searching'], telling: ['completed'] }),
  ...family('file_search_call', '', { announcing: ['in_progress', 'searching'], telling: ['completed'] }),
  ...family('code_interpreter_call', '', { announcing: ['in_progress', 'interpreting'], telling: ['completed'] }),
  ...family('code_interpreter_call', '_code', { telling: ['delta', 'done'] }),
  ...family('image_generation_call', '', { announcing: ['in_progress', 'generating'], telling: ['partial_image', 'completed'] }),
  ...family('mcp_list_tools', '', { announcing: ['in_progress'], telling: ['completed', 'failed'] }),
  ...family('mcp_call', '', { announcing: ['in_progress'], telling: ['completed', 'failed'] }),
  ...family('mcp_call', '_arguments', { telling: ['delta', 'done'] }),
  ...family('custom_tool_call', '_input', { telling: ['delta', 'done'] }),
  ...family('shell_call', '_command', { telling: ['added', 'delta', 'done'] }),
  ...family('shell_call_output', '_content', { telling: ['delta', 'done'] }),
  ...family(undefined, 'audio', { telling: ['delta', 'done'] }),
  ...family(undefined, 'audio.transcript', { telling: ['delta', 'done'] }),
])

interface Steps {
  readonly announcing?: readonly string[]
  readonly telling: readonly string[]
}

function family(
  item: string | undefined,
  suffix: string,
  { announcing = [], telling }: Steps,
): readonly (readonly [string, HostedEvent])[] {
  const stem = `response.${item ?? ''}${suffix}`
  return [
    ...announcing.map(step => [`${stem}.${step}`, { preamble: true, item }] as const),
    ...telling.map(step => [`${stem}.${step}`, { preamble: false, item }] as const),
  ]
}

/** Names that a native event may carry out: hosted tools, and parts of a message that we do not read. */
export const isPublicEvent = (name: string): boolean =>
  hostedEvents.has(name) || name === 'response.content_part.added' || name === 'response.content_part.done'

/** How each kind of growth is spelled. `bracket` opens and closes the part around it. */
export interface Growth {
  readonly bracket: string
  readonly stem: string
  readonly deltaEvent: string
  /** The field that holds the part's number. */
  readonly at: 'content_index' | 'summary_index'
  /** The field of `….done` and of the part that holds the text. */
  readonly field: 'text' | 'refusal'
  readonly part: (
    text: string,
    extras: { readonly annotations: readonly JsonObject[]; readonly logprobs: readonly JsonObject[] },
  ) => JsonObject
}

export type PartKind = 'text' | 'refusal' | 'reasoning' | 'summary'

export const growths: Readonly<Record<PartKind, Growth>> = {
  text: {
    bracket: 'response.content_part',
    stem: 'response.output_text',
    deltaEvent: 'response.output_text.delta',
    at: 'content_index',
    field: 'text',
    part: (text, { annotations, logprobs }) => ({ type: 'output_text', text, annotations, logprobs }),
  },
  refusal: {
    bracket: 'response.content_part',
    stem: 'response.refusal',
    deltaEvent: 'response.refusal.delta',
    at: 'content_index',
    field: 'refusal',
    part: refusal => ({ type: 'refusal', refusal }),
  },
  reasoning: {
    bracket: 'response.content_part',
    stem: 'response.reasoning_text',
    deltaEvent: 'response.reasoning_text.delta',
    at: 'content_index',
    field: 'text',
    part: text => ({ type: 'reasoning_text', text }),
  },
  summary: {
    bracket: 'response.reasoning_summary_part',
    stem: 'response.reasoning_summary_text',
    deltaEvent: 'response.reasoning_summary_text.delta',
    at: 'summary_index',
    field: 'text',
    part: text => ({ type: 'summary_text', text }),
  },
}

export const indexOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
