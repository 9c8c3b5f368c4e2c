import type { Fate, ProviderDialect } from '../protocol/dialect.ts'
import type { Item, Part } from '../protocol/item.ts'
import type { Prompt } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import { isCitable, itemParts } from './part-warnings.ts'

// The request features that a dialect may keep, map or lose. Each dialect declares its fates in its `fidelity.ts`. docs/fidelity.md is
// generated from both, a test checks every dialect against it, and plans are answered from it before a call.

export interface Feature {
  /** The field name in warnings; `[*]` is any list index. */
  readonly param: string
  readonly name: string
  readonly isUsed: (prompt: Prompt) => boolean
}

const anyItem = (prompt: Prompt, matches: (item: Item) => boolean): boolean => prompt.input.some(matches)
const anyPart = (prompt: Prompt, matches: (part: Part) => boolean): boolean => anyItem(prompt, item => itemParts(item).some(matches))
const isSet =
  (field: keyof Prompt) =>
  (prompt: Prompt): boolean =>
    prompt[field] !== undefined
const isSystem = (item: Item): boolean => item.type === 'message' && (item.role === 'system' || item.role === 'developer')

const isCustom = (tool: Tool): tool is FunctionTool => tool.type === 'function' && tool.custom !== undefined

const table = {
  instructions: { param: 'instructions', name: 'Instructions', isUsed: isSet('instructions') },
  midConversationSystem: {
    param: 'input',
    name: 'System message in mid-conversation',
    isUsed: ({ input }) => input.findLastIndex(isSystem) > input.findIndex(item => !isSystem(item)),
  },
  imageBytes: {
    param: 'input[*].content[*]',
    name: 'Image as bytes',
    isUsed: prompt => anyPart(prompt, part => part.type === 'image' && part.url.startsWith('data:')),
  },
  imageUrl: {
    param: 'input[*].content[*]',
    name: 'Image by address',
    isUsed: prompt => anyPart(prompt, part => part.type === 'image' && !part.url.startsWith('data:')),
  },
  fileName: {
    param: 'input[*].content[*].filename',
    name: 'Name of a file',
    isUsed: prompt => anyPart(prompt, part => part.type === 'file' && part.filename !== undefined),
  },
  documentCitations: {
    param: 'input[*].content[*].citations',
    name: 'Citations and context of a file',
    isUsed: prompt => anyPart(prompt, isCitable),
  },
  fileBytes: {
    param: 'input[*].content[*]',
    name: 'File as bytes (PDF)',
    isUsed: prompt => anyPart(prompt, part => part.type === 'file' && part.url.startsWith('data:')),
  },
  fileUrl: {
    param: 'input[*].content[*]',
    name: 'File by address',
    isUsed: prompt => anyPart(prompt, part => part.type === 'file' && !part.url.startsWith('data:')),
  },
  audio: {
    param: 'input[*].content[*]',
    name: 'Audio',
    isUsed: prompt => anyPart(prompt, part => part.type === 'audio'),
  },
  cachePoint: {
    param: 'input[*].content[*]',
    name: 'Cache point',
    isUsed: prompt =>
      anyPart(prompt, part => 'cache' in part && part.cache !== undefined) ||
      anyItem(prompt, item => 'cache' in item && item.cache !== undefined) ||
      (prompt.tools ?? []).some(tool => tool.type === 'function' && tool.cache !== undefined),
  },
  toolError: {
    param: 'input[*]',
    name: 'Tool result that is an error',
    isUsed: prompt => anyItem(prompt, item => item.type === 'function_call_output' && item.is_error === true),
  },
  functionTools: { param: 'tools', name: 'Function tools', isUsed: isSet('tools') },
  strictTools: {
    param: 'tools[*].strict',
    name: 'Strict tools',
    isUsed: ({ tools = [] }) => tools.some(tool => tool.type === 'function' && tool.strict === true),
  },
  toolGroups: {
    param: 'tools',
    name: 'Tools in groups (`namespace`), and tools that join in mid-conversation',
    isUsed: prompt => [...(prompt.tools ?? []), ...prompt.input].some(each => each.type === 'native' && each.tools !== undefined),
  },
  customTools: {
    param: 'tools[*].input',
    name: 'Custom tools, their calls and results',
    isUsed: ({ input, tools = [] }) => tools.some(isCustom) || input.some(item => item.type === 'function_call' && item.custom),
  },
  toolGrammar: {
    param: 'tools[*].format',
    name: 'Grammar of a custom tool',
    isUsed: ({ tools = [] }) => tools.some(tool => isCustom(tool) && tool.custom?.grammar !== undefined),
  },
  toolChoice: { param: 'tool_choice', name: 'Tool choice', isUsed: isSet('tool_choice') },
  noParallelToolCalls: {
    param: 'parallel_tool_calls',
    name: 'No parallel tool calls',
    isUsed: ({ parallel_tool_calls, tools = [] }) => parallel_tool_calls === false && tools.length > 0,
  },
  outputCap: { param: 'max_output_tokens', name: 'Output cap', isUsed: isSet('max_output_tokens') },
  temperature: {
    param: 'temperature',
    name: 'Temperature',
    isUsed: isSet('temperature'),
  },
  topP: { param: 'top_p', name: 'Top p', isUsed: isSet('top_p') },
  topK: { param: 'top_k', name: 'Top k', isUsed: isSet('top_k') },
  frequencyPenalty: {
    param: 'frequency_penalty',
    name: 'Frequency penalty',
    isUsed: isSet('frequency_penalty'),
  },
  presencePenalty: { param: 'presence_penalty', name: 'Presence penalty', isUsed: isSet('presence_penalty') },
  logprobs: { param: 'top_logprobs', name: 'Log probabilities', isUsed: isSet('top_logprobs') },
  stop: { param: 'stop', name: 'Stop texts', isUsed: isSet('stop') },
  seed: { param: 'seed', name: 'Seed', isUsed: isSet('seed') },
  jsonSchema: {
    param: 'text.format',
    name: 'Answer by a JSON schema',
    isUsed: ({ text }) => text?.format?.type === 'json_schema',
  },
  jsonObject: {
    param: 'text.format',
    name: 'Answer as JSON',
    isUsed: ({ text }) => text?.format?.type === 'json_object',
  },
  verbosity: {
    param: 'text.verbosity',
    name: 'Verbosity',
    isUsed: ({ text }) => text?.verbosity !== undefined,
  },
  reasoningEffort: {
    param: 'reasoning.effort',
    name: 'Reasoning effort',
    isUsed: ({ reasoning }) => reasoning?.effort !== undefined,
  },
  reasoningSummary: {
    param: 'reasoning.summary',
    name: 'Reasoning summary',
    isUsed: ({ reasoning }) => reasoning?.summary !== undefined && reasoning.summary !== 'none',
  },
  truncation: {
    param: 'truncation',
    name: 'Truncation',
    isUsed: ({ truncation }) => truncation !== undefined && truncation !== 'disabled',
  },
  user: { param: 'user', name: 'User', isUsed: isSet('user') },
  safetyIdentifier: {
    param: 'safety_identifier',
    name: 'Safety identifier',
    isUsed: isSet('safety_identifier'),
  },
  promptCacheKey: {
    param: 'prompt_cache_key',
    name: 'Prompt cache key',
    isUsed: isSet('prompt_cache_key'),
  },
} satisfies Readonly<Record<string, Feature>>

/** The id of a feature, as in the fidelity report. */
export type FeatureId = keyof typeof table

/** All features, in documentation order. */
export const features: ReadonlyMap<FeatureId, Feature> = new Map(Object.entries(table) as [FeatureId, Feature][])

/**
 * What a dialect does with a feature, for an offer without quirks. `at`: where its body holds the value; of several paths with dots, the
 * first that is set. `unsent`: a setting that is always dropped.
 */
type Field = Fate | 'unsent' | { readonly fate: Fate; readonly at: string | readonly string[] }

/** The features of a dialect, from which its fidelity, its warnings and the places of its settings are derived. */
export type FieldTable = Readonly<Record<FeatureId, Field>>

/** The fates of features, and the places of settings in a body. `tier`: the field of the service tier. */
export function factsOf(fields: FieldTable, tier = 'service_tier'): Required<Pick<ProviderDialect, 'fidelity' | 'settingPaths'>> {
  const rows = [...features].map(([id, { param }]) => ({ id, param, field: fields[id] }))
  const places = rows.flatMap(({ param, field }) => (typeof field === 'object' ? [[param, [field.at].flat()] as const] : []))
  return {
    fidelity: Object.fromEntries(
      rows.map(({ id, field }) => [id, typeof field === 'object' ? field.fate : field === 'unsent' ? 'dropped' : field]),
    ),
    settingPaths: { ...Object.fromEntries(places), service_tier: [tier] },
  }
}
