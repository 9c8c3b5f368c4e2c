import type { Quirks } from '../protocol/model.ts'
import type { ReasoningField } from './message-fields.ts'

/** How a model family accepts earlier reasoning, on any host. */
export interface ReasoningFamily {
  /** The field of the vendor's API. A host may use another, which its responses show. */
  readonly field?: ReasoningField
  /** Same as the quirk. */
  readonly earlierReasoning?: Quirks['earlierReasoning']
}

/**
 * The first match wins. Ids are in lower case, with a dot between version numbers. Families without a row get back what the provider itself
 * wrote, in the same field.
 */
const families: readonly (readonly [id: RegExp, family: ReasoningFamily])[] = [
  // R1 and its distillations reject or ignore the field.
  [/deepseek.*[-.]r1|^r1-1776/, { earlierReasoning: 'never' }],
  // From V3.2 on, a tool turn without the field is rejected. `deepseek-chat` and `deepseek-reasoner` are names of the current version.
  [/deepseek-(chat|reasoner|flash|pro)|deepseek[-.]v(3\.[2-9]|[4-9])/, { field: 'reasoning_content', earlierReasoning: 'always' }],
  [/kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding)/, { field: 'reasoning_content', earlierReasoning: 'always' }],
  [/glm-(4\.[5-9]|[5-9])/, { field: 'reasoning_content' }],
  [/minimax-m[2-9]/, { field: 'reasoning_content' }],
  [/gpt-oss/, { field: 'reasoning' }],
  [/qwen-?[3-9]|qwq/, { field: 'reasoning_content' }],
  [/mimo-v/, { field: 'reasoning_content' }],
]

const unknownFamily: ReasoningFamily = {}

/** The family of a model, by provider model id: `accounts/fireworks/models/deepseek-v3p2` is DeepSeek V3.2. */
export function reasoningFamilyOf(model: string): ReasoningFamily {
  const id = model.toLowerCase().replace(/(\d)[p_](?=\d)/g, '$1.')
  return families.find(([pattern]) => pattern.test(id))?.[1] ?? unknownFamily
}
