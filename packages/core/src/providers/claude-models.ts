import type { Quirks } from '../protocol/model.ts'

// Quirks of Claude models, which hold on every provider. As of 2026-11.

interface ModelRule {
  /** Matched against the id after `claude-`. The first match wins. */
  readonly models: RegExp
  readonly facts: Quirks
}

/** Matches a version with any date or revision after it: `opus-4` matches `opus-4-20250514-v1`, but not `opus-4-1`. */
const versionPattern = (...names: readonly string[]): RegExp => new RegExp(`^(?:${names.join('|')})(?!\\d)(?!-\\d{1,2}(?![\\da-z]))`)

const budgetUpTo = (max: number): Quirks => ({ thinking: ['budget'], thinking_budget: { min: 1024, max } })

const levels = ['low', 'medium', 'high', 'max']
const allLevels = ['low', 'medium', 'high', 'xhigh', 'max']

/** Models that predate JSON schemas and strict tools. */
const withoutSchemas: Quirks = { json_schema: 'tool', refuses: ['strict'] }
/** Adaptive thinking, or the budget of the request. */
const either: Quirks = { thinking: ['adaptive', 'budget'], thinking_budget: { min: 1024, max: 128_000 } }
const adaptive: Quirks = { thinking: ['adaptive'], efforts: allLevels }
const newest: Quirks = { ...adaptive, thinking_off: 'never', sampling: 'none' }

const modelRules: readonly ModelRule[] = [
  { models: /^(2|instant|v2)/, facts: { thinking: [], default_max_tokens: 4096, json_schema: 'words', refuses: ['strict'] } },
  { models: /^3-7/, facts: { ...withoutSchemas, ...budgetUpTo(64_000), default_max_tokens: 4096 } },
  { models: /^3/, facts: { ...withoutSchemas, thinking: [], default_max_tokens: 4096 } },
  { models: versionPattern('sonnet-4(?:-0)?'), facts: { ...withoutSchemas, ...budgetUpTo(64_000), sampling: 'one' } },
  { models: versionPattern('opus-4(?:-0)?'), facts: { ...withoutSchemas, ...budgetUpTo(32_000), sampling: 'one' } },
  { models: versionPattern('opus-4-1'), facts: { ...budgetUpTo(32_000), sampling: 'one', refuses: ['strict'] } },
  { models: versionPattern('sonnet-4-5', 'haiku-4-5', 'opus-4-5'), facts: { ...budgetUpTo(64_000), sampling: 'one' } },
  { models: versionPattern('sonnet-4-6', 'opus-4-6'), facts: { ...either, efforts: levels, sampling: 'one' } },
  { models: versionPattern('opus-4-7', 'opus-4-8', 'sonnet-5'), facts: { ...either, efforts: allLevels, sampling: 'unless_thinking' } },
  { models: versionPattern('opus-5'), facts: { ...either, efforts: allLevels, thinking_off: 'up_to_high', sampling: 'unless_thinking' } },
  { models: versionPattern('haiku-5-5'), facts: { ...adaptive, thinking_off: 'up_to_high', sampling: 'unless_thinking' } },
  { models: versionPattern('fable-5'), facts: newest },
  { models: versionPattern('fable-5-1', 'fable-5-2', 'opus-5-5', 'sonnet-5-5'), facts: { ...newest, no_forced_tools: true } },
]

/** Fallback for unknown models: the quirks of the newest ones. */
const unknownModel: Quirks = { ...either, efforts: allLevels, thinking_off: 'up_to_high', sampling: 'none' }

/**
 * Returns the quirks of a Claude model by any of the ids it is sold under, or undefined for other models.
 *
 * @example claudeQuirks('us.anthropic.claude-sonnet-4-5-20250929-v1:0')?.thinking // ['budget']
 */
export function claudeQuirks(model: string): Quirks | undefined {
  const [, id] = /claude-(.{1,200})/.exec(model.toLowerCase().slice(0, 300).replaceAll('.', '-')) ?? []
  return id === undefined ? undefined : (modelRules.find(({ models }) => models.test(id))?.facts ?? unknownModel)
}
