import type { Quirks } from '../protocol/model.ts'
import { claudeQuirks } from './claude-models.ts'

// What single models on Bedrock want. Sources: AWS' model cards, and answers of the service (2026-11).

/** `global.anthropic.claude-opus-5` → `anthropic.claude-opus-5`: before the dot stands where it may run. An ARN holds the id behind its last slash. */
export const baseModelOf = (model: string): string =>
  model.slice(model.lastIndexOf('/') + 1).replace(/^(?:global|us|us-gov|eu|apac|ap|au|jp|in|ca|sa|uk|mx|af|me|il)\./, '')

/** Models whose answer Bedrock itself holds to a schema. */
const enforced: Quirks = { json_schema: 'native' }
/** What only some know: strict tools, and marks in the prompt for its cache. */
const withoutStrictTools: Quirks = { thinking: [], refuses: ['strict', 'cachePoint'] }

const openai: Quirks = {
  ...enforced,
  thinking: ['level'],
  developer_role: true,
  refuses: ['strict', 'cachePoint', 'top_k'],
}

/** Bedrock looks at requests by its own lights: of the Claude models these alone take strict tools there. */
const takesStrictTools = /claude-(?:haiku|sonnet|opus)-4-[56]/
/** Of those, sonnet-4-6 departs from complex schemas of answers, and whether haiku-4-5 keeps to them depends on the account. */
const holdsToSchemas = /claude-(?:sonnet-4-5|opus-4-[56])/

function claude(model: string): Quirks | undefined {
  const known = claudeQuirks(model)
  if (!known) return undefined
  if (takesStrictTools.test(model)) return { ...known, json_schema: holdsToSchemas.test(model) ? 'native' : 'tool', anthropic_fields: true }
  return { ...known, json_schema: known.json_schema === 'words' ? 'words' : 'tool', refuses: ['strict'], anthropic_fields: true }
}

/** First match wins. */
const models: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^openai\.gpt-oss/, { ...openai, thinking_field: 'reasoning_effort', efforts: ['low', 'medium', 'high'] }],
  [
    /^openai\./,
    { ...openai, thinking_field: 'reasoning', sampling: 'none', sealed_reasoning: true, refuses: [...(openai.refuses ?? []), 'stop'] },
  ],
  [/^amazon\.nova-2/, { thinking: ['level'], thinking_field: 'reasoningConfig', refuses: ['strict'] }],
  [/^amazon\.nova/, { thinking: [], refuses: ['strict'] }],
  // Tools, yes; a demanded call, no.
  [/^meta\./, { ...withoutStrictTools, no_forced_tools: true }],
  [
    /^(qwen\.|deepseek\.v3|mistral\.(mistral-large-3|devstral)|google\.gemma|nvidia\.nemotron|minimax\.|moonshotai?\.|zai\.)/,
    { ...withoutStrictTools, ...enforced },
  ],
]

export function bedrockQuirksOf(model: string): Quirks {
  const id = baseModelOf(model)
  return claude(id) ?? models.find(([pattern]) => pattern.test(id))?.[1] ?? withoutStrictTools
}

/** Below which path the languages of OpenAI are spoken: it differs by model, and the wrong one is refused. */
export const mantlePathOf = (model: string): string =>
  /^(openai\.(?!gpt-oss)|google\.gemma-[4-9]|xai\.)/.test(baseModelOf(model)) ? '/openai/v1' : '/v1'
