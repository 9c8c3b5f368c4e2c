import type { Json, JsonObject } from '../../protocol/wire.ts'

export const dialect = 'responses'

/**
 * Events of hosted tools, which we carry but do not read: name → whether it only announces work. Together with what
 * stream-out.ts writes itself this is the closed list that SDKs know: one name outside it stops their stream helpers.
 */
export const hostedEvents: ReadonlyMap<string, { readonly preamble: boolean }> = new Map(
  [
    ...family('response.web_search_call', ['in_progress', 'searching'], ['completed']),
    ...family('response.file_search_call', ['in_progress', 'searching'], ['completed']),
    ...family('response.code_interpreter_call', ['in_progress', 'interpreting'], ['completed']),
    ...family('response.code_interpreter_call_code', [], ['delta', 'done']),
    ...family('response.image_generation_call', ['in_progress', 'generating'], ['partial_image', 'completed']),
    ...family('response.mcp_list_tools', ['in_progress'], ['completed', 'failed']),
    ...family('response.mcp_call', ['in_progress'], ['completed', 'failed']),
    ...family('response.mcp_call_arguments', [], ['delta', 'done']),
    ...family('response.custom_tool_call_input', [], ['delta', 'done']),
    ...family('response.shell_call_command', [], ['added', 'delta', 'done']),
    ...family('response.shell_call_output_content', [], ['delta', 'done']),
    ...family('response.audio', [], ['delta', 'done']),
    ...family('response.audio.transcript', [], ['delta', 'done']),
  ].map(([name, preamble]) => [name, { preamble }]),
)

function family(stem: string, announcing: readonly string[], telling: readonly string[]): readonly (readonly [string, boolean])[] {
  return [...announcing.map(name => [`${stem}.${name}`, true] as const), ...telling.map(name => [`${stem}.${name}`, false] as const)]
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

export const stringOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
export const indexOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
