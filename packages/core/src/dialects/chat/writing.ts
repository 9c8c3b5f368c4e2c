import type { Item, TextPart } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Outcome, Usage } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { dialect } from './wire.ts'

// Pieces of an answer, the same in a whole one and in chunks.

export const finishOf = (outcome: Outcome, called: boolean): string => {
  if (outcome.status === 'completed') return called ? 'tool_calls' : 'stop'
  return outcome.status === 'incomplete' && outcome.reason === 'content_filter' ? 'content_filter' : 'length'
}

export const writeUsage = (usage: Usage): JsonObject => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  total_tokens: usage.input_tokens + usage.output_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens, cache_write_tokens: usage.cache_write_tokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
})

/** Of a text that stands `offset` characters into the content. Only pages of the web can be cited here. */
export const writeAnnotations = ({ annotations = [] }: TextPart, offset: number): readonly JsonObject[] =>
  annotations.flatMap(({ type, ...citation }) => {
    if (type !== 'url_citation') return []
    const moved: Record<string, JsonObject[string]> = { ...citation }
    for (const end of ['start_index', 'end_index']) {
      const index = citation[end]
      if (typeof index === 'number') moved[end] = index + offset
    }
    return [{ type, url_citation: moved }]
  })

/** Every field that clients check for is there. */
export const writeLogprobs = (entries: readonly JsonObject[]): JsonObject => ({
  content: entries.map(({ top_logprobs, ...entry }) => ({
    ...withBytes(entry),
    top_logprobs: Array.isArray(top_logprobs) ? top_logprobs.filter(isObject).map(withBytes) : [],
  })),
  refusal: null,
})

const withBytes = (entry: JsonObject): JsonObject => ({ ...entry, bytes: entry.bytes ?? null })

/** A sealed state, by the name under which clients of this language keep such things. */
export const writeSealed = (data: string, index: number): JsonObject => ({
  type: 'reasoning.encrypted',
  data,
  index,
  format: 'signalbox',
})

/** The same state on a call, where other clients keep it. */
export const writeSignature = (state: string | undefined): JsonObject =>
  state === undefined ? {} : { extra_content: { google: { thought_signature: state } } }

/** Tools that are called with a text of their own instead of JSON, by name. */
export const customTools = ({ prompt: { tools = [] } }: InferenceRequest): ReadonlySet<string> =>
  new Set(
    tools.flatMap(tool => {
      const custom = tool.type === 'native' && tool.dialect === dialect && tool.body.type === 'custom' ? tool.body.custom : undefined
      return isObject(custom) && typeof custom.name === 'string' ? [custom.name] : []
    }),
  )

/** Thoughts in words. Of a summary and the raw both, one is told: they say the same. */
export const thoughtsOf = (item: Extract<Item, { type: 'reasoning' }>): readonly string[] =>
  (item.summary.length > 0 ? item.summary : (item.content ?? [])).filter(text => text !== '')

/** Between thoughts, which are paragraphs. The words of an answer are joined with nothing: they may be cut anywhere. */
export const paragraph = '\n\n'
