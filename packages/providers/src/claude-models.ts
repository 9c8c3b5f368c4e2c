import type { Quirks } from '@signalbox/dialects/protocol'

// Quirks of Claude models, which hold on every provider. As of 2026-11. A fact needs the vendor's page or an answer of its API: other client
// libraries have had the same mistakes.

interface ModelRule {
  /** Matched against the id after `claude-`. The first match wins. */
  readonly models: RegExp
  readonly facts: Quirks
}

/** Matches a version with any date or revision after it: `opus-4` matches `opus-4-20250514-v1`, but not `opus-4-1`. */
const versionPattern = (...names: readonly string[]): RegExp => new RegExp(`^(?:${names.join('|')})(?!\\d)(?!-\\d{1,2}(?![\\da-z]))`)

const budgetUpTo = (max: number): Quirks => ({ thinking: ['budget'], thinkingBudget: { min: 1024, max } })

const levels = ['low', 'medium', 'high', 'max']
const allLevels = ['low', 'medium', 'high', 'xhigh', 'max']

/** Models that predate JSON schemas and strict tools. */
const withoutSchemas: Quirks = { jsonSchema: 'tool', refuses: ['strict'] }
/**
 * No model since 4.6 continues a final assistant message: 400 "This model does not support assistant message prefill". Sources:
 * Anthropic's release notes of 2026-02-05; answers of the API in router-for-me/CLIProxyAPI#5319 and anthropics/claude-code#52433.
 */
const withoutPrefill: Quirks = { noPrefill: true }
/** Adaptive thinking, or the budget of the request. */
const either: Quirks = { ...withoutPrefill, thinking: ['adaptive', 'budget'], thinkingBudget: { min: 1024, max: 128_000 } }
/**
 * Models since 4.7 refuse a thinking budget: 400 "thinking.type.enabled is not supported for this model", and any `temperature`, `top_p`
 * and `top_k`, also without thinking. Sources: AWS model card of Opus 4.7; Anthropic's migration guide and models overview (2026-11);
 * answers of the API in earendil-works/pi#3297 (4.7), AAClause/nvda-OpenAI#126 (Sonnet 5), Kilo-Org/kilocode#12526 (Opus 5).
 */
const adaptive: Quirks = { ...withoutPrefill, thinking: ['adaptive'], efforts: allLevels, sampling: 'none' }
const offUpToHigh: Quirks = { ...adaptive, thinkingOff: 'up_to_high' }
const newest: Quirks = { ...adaptive, thinkingOff: 'never' }

/**
 * Every model, also on Bedrock: 400 "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'". Sources: answers of the APIs in
 * decocms/studio#6874, freee/freee-mcp#15, aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#709.
 */
const everyModel: Quirks = { plainProperties: true }

const rules: readonly ModelRule[] = [
  { models: /^(2|instant|v2)/, facts: { thinking: [], defaultMaxTokens: 4096, jsonSchema: 'words', refuses: ['strict'] } },
  { models: /^3-7/, facts: { ...withoutSchemas, ...budgetUpTo(64_000), defaultMaxTokens: 4096 } },
  { models: /^3/, facts: { ...withoutSchemas, thinking: [], defaultMaxTokens: 4096 } },
  { models: versionPattern('sonnet-4(?:-0)?'), facts: { ...withoutSchemas, ...budgetUpTo(64_000), sampling: 'one' } },
  { models: versionPattern('opus-4(?:-0)?'), facts: { ...withoutSchemas, ...budgetUpTo(32_000), sampling: 'one' } },
  { models: versionPattern('opus-4-1'), facts: { ...budgetUpTo(32_000), sampling: 'one', refuses: ['strict'] } },
  { models: versionPattern('sonnet-4-5', 'haiku-4-5', 'opus-4-5'), facts: { ...budgetUpTo(64_000), sampling: 'one' } },
  { models: versionPattern('sonnet-4-6', 'opus-4-6'), facts: { ...either, efforts: levels, sampling: 'one' } },
  { models: versionPattern('opus-4-7', 'opus-4-8', 'sonnet-5'), facts: adaptive },
  { models: versionPattern('opus-5', 'haiku-5-5'), facts: offUpToHigh },
  { models: versionPattern('fable-5'), facts: newest },
  { models: versionPattern('fable-5-1', 'fable-5-2', 'opus-5-5', 'sonnet-5-5'), facts: { ...newest, noForcedTools: true } },
]

/** Fallback for unknown models: what every new model accepts. */
const unknownModel: Quirks = { ...everyModel, ...offUpToHigh }

const modelRules = rules.map(({ models, facts }): ModelRule => ({ models, facts: { ...everyModel, ...facts } }))

/**
 * Returns the quirks of a Claude model by any of the ids it is sold under, or undefined for other models.
 *
 * @example claudeQuirks('us.anthropic.claude-sonnet-4-5-20250929-v1:0')?.thinking // ['budget']
 */
export function claudeQuirks(model: string): Quirks | undefined {
  const [, id] = /claude-(.{1,200})/.exec(model.toLowerCase().slice(0, 300).replaceAll('.', '-')) ?? []
  return id === undefined ? undefined : (modelRules.find(({ models }) => models.test(id))?.facts ?? unknownModel)
}
