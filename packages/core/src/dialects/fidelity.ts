import type { Item, Part } from '../protocol/item.ts'
import type { Prompt } from '../protocol/request.ts'

// What each dialect of a provider makes of each field of a request. docs/fidelity.md is generated from this table, a test holds
// every dialect to it, and a plan is answered from it before the call.

/**
 * `kept`: the same field. `mapped`: another field, and nothing is lost. `approximated`: the nearest that the language has, with a
 * warning. `dropped`: left out, with a warning.
 */
export type Fate = 'kept' | 'mapped' | 'approximated' | 'dropped'

export const providerLanguages = ['responses', 'chat', 'messages', 'gemini', 'bedrock'] as const
export type ProviderLanguage = (typeof providerLanguages)[number]

export const isProviderLanguage = (name: string): name is ProviderLanguage => (providerLanguages as readonly string[]).includes(name)

export const fateIn = (language: ProviderLanguage, { fates }: Pick<Feature, 'fates'>): Fate =>
  fates[providerLanguages.indexOf(language)] ?? 'dropped'

export interface Feature {
  /** The field as warnings name it; `[*]` is any index of a list. */
  readonly param: string
  readonly name: string
  readonly isUsed: (prompt: Prompt) => boolean
  /** For an offer without quirks, in the order of `providerLanguages`. */
  readonly fates: readonly [responses: Fate, chat: Fate, messages: Fate, gemini: Fate, bedrock: Fate]
  /** What the mapping or the warning means, if it needs an explanation. */
  readonly note?: string
}

const any = (prompt: Prompt, is: (item: Item) => boolean): boolean => prompt.input.some(is)
const partsOf = (item: Item): readonly Part[] => {
  if (item.type === 'message') return item.content
  return item.type === 'function_call_output' && typeof item.output !== 'string' ? item.output : []
}
const anyPart = (prompt: Prompt, is: (part: Part) => boolean): boolean => any(prompt, item => partsOf(item).some(is))
const isSet =
  (field: keyof Prompt) =>
  (prompt: Prompt): boolean =>
    prompt[field] !== undefined
const isSystem = (item: Item): boolean => item.type === 'message' && (item.role === 'system' || item.role === 'developer')

const [kept, mapped, approximated, dropped] = ['kept', 'mapped', 'approximated', 'dropped'] as const

export const features: readonly Feature[] = [
  { param: 'instructions', name: 'Instructions', isUsed: isSet('instructions'), fates: [kept, mapped, mapped, mapped, mapped] },
  {
    param: 'input',
    name: 'System message in mid-conversation',
    isUsed: ({ input }) => input.findLastIndex(isSystem) > input.findIndex(item => !isSystem(item)),
    fates: [kept, kept, mapped, mapped, mapped],
    note: 'Where there is no such role it stays in its place as marked text of the user.',
  },
  {
    param: 'input[*].content[*]',
    name: 'Image as bytes',
    isUsed: prompt => anyPart(prompt, part => part.type === 'image' && part.url.startsWith('data:')),
    fates: [kept, mapped, mapped, mapped, mapped],
  },
  {
    param: 'input[*].content[*]',
    name: 'Image by address',
    isUsed: prompt => anyPart(prompt, part => part.type === 'image' && !part.url.startsWith('data:')),
    fates: [kept, mapped, mapped, mapped, dropped],
    note: 'Bedrock takes bytes only: with `media` set the gateway reads the address, else the offer is not asked.',
  },
  {
    param: 'input[*].content[*]',
    name: 'File as bytes (PDF)',
    isUsed: prompt => anyPart(prompt, part => part.type === 'file' && part.url.startsWith('data:')),
    fates: [kept, mapped, mapped, mapped, mapped],
  },
  {
    param: 'input[*].content[*]',
    name: 'File by address',
    isUsed: prompt => anyPart(prompt, part => part.type === 'file' && !part.url.startsWith('data:')),
    fates: [kept, dropped, mapped, mapped, dropped],
  },
  {
    param: 'input[*].content[*]',
    name: 'Audio',
    isUsed: prompt => anyPart(prompt, part => part.type === 'audio'),
    fates: [kept, mapped, dropped, mapped, dropped],
  },
  {
    param: 'input[*].content[*]',
    name: 'Cache point',
    isUsed: prompt =>
      anyPart(prompt, part => 'cache' in part && part.cache !== undefined) ||
      any(prompt, item => 'cache' in item && item.cache !== undefined) ||
      (prompt.tools ?? []).some(tool => tool.type === 'function' && tool.cache !== undefined),
    fates: [mapped, dropped, mapped, dropped, mapped],
    note: 'On parts of a conversation; where tools and results take no mark, a warning says so. A caller of the same language keeps its own.',
  },
  {
    param: 'input[*]',
    name: 'Tool result that is an error',
    isUsed: prompt => any(prompt, item => item.type === 'function_call_output' && item.is_error === true),
    fates: [dropped, dropped, mapped, mapped, mapped],
  },
  { param: 'tools', name: 'Function tools', isUsed: isSet('tools'), fates: [kept, mapped, mapped, mapped, mapped] },
  {
    param: 'tools[*].strict',
    name: 'Strict tools',
    isUsed: ({ tools = [] }) => tools.some(tool => tool.type === 'function' && tool.strict === true),
    fates: [kept, mapped, mapped, mapped, mapped],
  },
  { param: 'tool_choice', name: 'Tool choice', isUsed: isSet('tool_choice'), fates: [kept, mapped, mapped, mapped, mapped] },
  {
    param: 'parallel_tool_calls',
    name: 'No parallel tool calls',
    isUsed: ({ parallel_tool_calls, tools = [] }) => parallel_tool_calls === false && tools.length > 0,
    fates: [kept, kept, mapped, dropped, dropped],
  },
  { param: 'max_output_tokens', name: 'Output cap', isUsed: isSet('max_output_tokens'), fates: [kept, mapped, mapped, mapped, mapped] },
  {
    param: 'temperature',
    name: 'Temperature',
    isUsed: isSet('temperature'),
    fates: [kept, kept, kept, mapped, mapped],
    note: 'Clamped to 1, with a warning, where the scale ends there.',
  },
  { param: 'top_p', name: 'Top p', isUsed: isSet('top_p'), fates: [kept, kept, kept, mapped, mapped] },
  { param: 'top_k', name: 'Top k', isUsed: isSet('top_k'), fates: [kept, kept, kept, mapped, dropped] },
  {
    param: 'frequency_penalty',
    name: 'Frequency penalty',
    isUsed: isSet('frequency_penalty'),
    fates: [kept, kept, dropped, mapped, dropped],
  },
  { param: 'presence_penalty', name: 'Presence penalty', isUsed: isSet('presence_penalty'), fates: [kept, kept, dropped, mapped, dropped] },
  { param: 'top_logprobs', name: 'Log probabilities', isUsed: isSet('top_logprobs'), fates: [kept, mapped, dropped, mapped, dropped] },
  { param: 'stop', name: 'Stop texts', isUsed: isSet('stop'), fates: [dropped, kept, mapped, mapped, mapped] },
  { param: 'seed', name: 'Seed', isUsed: isSet('seed'), fates: [dropped, kept, dropped, mapped, dropped] },
  {
    param: 'text.format',
    name: 'Answer by a JSON schema',
    isUsed: ({ text }) => text?.format?.type === 'json_schema',
    fates: [kept, mapped, mapped, mapped, approximated],
    note: 'Where a schema cannot be enforced, a forced tool or words take its place, with a warning.',
  },
  {
    param: 'text.format',
    name: 'Answer as JSON',
    isUsed: ({ text }) => text?.format?.type === 'json_object',
    fates: [kept, mapped, mapped, mapped, mapped],
    note: 'By words, where there is no such mode.',
  },
  {
    param: 'text.verbosity',
    name: 'Verbosity',
    isUsed: ({ text }) => text?.verbosity !== undefined,
    fates: [kept, mapped, dropped, dropped, dropped],
  },
  {
    param: 'reasoning.effort',
    name: 'Reasoning effort',
    isUsed: ({ reasoning }) => reasoning?.effort !== undefined,
    fates: [kept, mapped, mapped, mapped, mapped],
    note: 'A level that an offer does not know moves to the next lower one, with a warning.',
  },
  {
    param: 'reasoning.summary',
    name: 'Reasoning summary',
    isUsed: ({ reasoning }) => reasoning?.summary !== undefined && reasoning.summary !== 'none',
    fates: [kept, mapped, mapped, mapped, dropped],
    note: 'Where thoughts come in the raw, they are told as the summary.',
  },
  {
    param: 'truncation',
    name: 'Truncation',
    isUsed: ({ truncation }) => truncation !== undefined && truncation !== 'disabled',
    fates: [kept, dropped, dropped, dropped, dropped],
  },
  { param: 'user', name: 'User', isUsed: isSet('user'), fates: [kept, kept, mapped, dropped, dropped] },
  {
    param: 'safety_identifier',
    name: 'Safety identifier',
    isUsed: isSet('safety_identifier'),
    fates: [kept, kept, mapped, dropped, dropped],
  },
  {
    param: 'prompt_cache_key',
    name: 'Prompt cache key',
    isUsed: isSet('prompt_cache_key'),
    fates: [kept, kept, dropped, dropped, dropped],
  },
]
