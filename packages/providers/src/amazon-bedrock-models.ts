import type { Quirks } from '@signalbox/dialects/protocol'
import { claudeQuirks } from './claude-models.ts'

// Quirks of individual models on Bedrock. Sources: AWS model cards and observed responses (2026-11).

/** Strips the region prefix and the ARN path: `global.anthropic.claude-opus-5` → `anthropic.claude-opus-5`. */
export const baseModelOf = (model: string): string =>
  model.slice(model.lastIndexOf('/') + 1).replace(/^(?:global|us|us-gov|eu|apac|ap|au|jp|in|ca|sa|uk|mx|af|me|il)\./, '')

/** Models for which Bedrock itself enforces a JSON schema. */
const enforced: Quirks = { jsonSchema: 'native' }
/** Models without a prompt cache: AWS, prompt caching, supported models, 2026-11. */
const withoutCache: Quirks = { cacheMarks: [] }
/** Nova caches no tools: the same page. */
const withoutToolCache: Quirks = { cacheMarks: ['system', 'user', 'assistant', 'results', 'calls'] }
/**
 * Models other than Claude, Nova and Llama 4 take images in user messages, but not in tool results: 400 "This model doesn't support the
 * image field for user messages". Sources: answers of the API for GPT-5.6 in can1357/oh-my-pi#11685; anomalyco/opencode#50272 for the others.
 */
const textOnlyResults: Quirks = { textOnlyResults: true }
const withoutStrictTools: Quirks = { ...withoutCache, ...textOnlyResults, thinking: [], refuses: ['strict'] }

const openai: Quirks = {
  ...enforced,
  ...withoutCache,
  ...textOnlyResults,
  thinking: ['level'],
  developerRole: true,
  refuses: ['strict', 'top_k'],
}

/** The only Claude models that accept strict tools on Bedrock. */
const takesStrictTools = /claude-(?:haiku|sonnet|opus)-4-[56]/
/** Of those, sonnet-4-6 deviates from complex response schemas, and for haiku-4-5 it depends on the account. */
const holdsToSchemas = /claude-(?:sonnet-4-5|opus-4-[56])/

function claude(model: string): Quirks | undefined {
  const known = claudeQuirks(model)
  if (!known) return undefined
  if (takesStrictTools.test(model)) return { ...known, jsonSchema: holdsToSchemas.test(model) ? 'native' : 'tool', anthropicFields: true }
  return { ...known, jsonSchema: known.jsonSchema === 'words' ? 'words' : 'tool', refuses: ['strict'], anthropicFields: true }
}

/** The first match wins. */
const models: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^openai\.gpt-oss/, { ...openai, thinkingField: 'reasoning_effort', efforts: ['low', 'medium', 'high'] }],
  [
    /^openai\./,
    { ...openai, thinkingField: 'reasoning', sampling: 'none', sealedReasoning: true, refuses: [...(openai.refuses ?? []), 'stop'] },
  ],
  [/^amazon\.nova-2/, { thinking: ['level'], thinkingField: 'reasoningConfig', refuses: ['strict'], ...withoutToolCache }],
  [/^amazon\.nova/, { thinking: [], refuses: ['strict'], ...withoutToolCache }],
  // Supports tools, but not a forced tool call.
  [/^meta\.llama4/, { ...withoutStrictTools, noForcedTools: true, textOnlyResults: false }],
  [/^meta\./, { ...withoutStrictTools, noForcedTools: true }],
  [
    /^(qwen\.|deepseek\.v3|mistral\.(mistral-large-3|devstral)|google\.gemma|nvidia\.nemotron|minimax\.|moonshotai?\.|zai\.)/,
    { ...withoutStrictTools, ...enforced },
  ],
]

/** A prompt that is stored at Bedrock (AWS, Prompt management): `arn:aws:bedrock:us-east-1:111122223333:prompt/PROMPT12345:1`. */
const isStoredPrompt = (model: string): boolean => /^arn:[^:]*:bedrock:[^:]*:[^:]*:prompt\//.test(model)

export function bedrockQuirksOf(model: string): Quirks {
  const id = baseModelOf(model)
  const quirks = claude(id) ?? models.find(([pattern]) => pattern.test(id))?.[1] ?? withoutStrictTools
  return isStoredPrompt(model) ? { ...quirks, extendsPrompt: true } : quirks
}

/** The path prefix of the OpenAI-compatible APIs. It differs by model, and Bedrock rejects the wrong one. */
export const mantlePathOf = (model: string): string =>
  /^(openai\.(?!gpt-oss)|google\.gemma-[4-9]|xai\.)/.test(baseModelOf(model)) ? '/openai/v1' : '/v1'
