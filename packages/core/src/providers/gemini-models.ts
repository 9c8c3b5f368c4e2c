import type { Quirks } from '../protocol/model.ts'

// Quirks of Google models, by id prefix. As of 2026-11.

const penalties = ['frequency_penalty', 'presence_penalty']

/** Thinking is set by level and cannot be switched off completely; a function call must be returned with its signature. */
const byLevel = (...efforts: readonly string[]): Quirks => ({ thinking: ['level'], efforts, refuses: penalties })

/** Thinking is set in tokens; a response schema and tools exclude each other. */
const byBudget = (min: number, max: number): Quirks => ({
  thinking: ['budget'],
  thinking_budget: { min, max },
  json_schema_without_tools: true,
  refuses: penalties,
})

const withoutThinking: Quirks = { thinking: [], json_schema_without_tools: true }

/** The first match wins. */
const geminiRules: readonly (readonly [pattern: RegExp, Quirks])[] = [
  [/^gemma-[123]/, { ...withoutThinking, no_system: true, json_schema: 'words' }],
  [/^gemma/, { ...withoutThinking, no_system: true }],
  [/^gemini-(1|2\.0)/, withoutThinking],
  [/^gemini-2\.5-flash-image/, { ...withoutThinking, refuses: penalties, own_images: true }],
  [/^gemini-2\.5-flash-lite/, byBudget(512, 24_576)],
  [/^gemini-2\.5-flash/, byBudget(1, 24_576)],
  [/^gemini-2/, { ...byBudget(128, 32_768), thinking_off: 'never' }],
  [/^gemini-3-pro-image/, byLevel('high')],
  [/^gemini-3-pro/, byLevel('low', 'high')],
  [/^gemini-3(\.[1-6])?-flash/, byLevel('minimal', 'low', 'medium', 'high')],
  // Sampling parameters are ignored, not rejected.
  // Google's page of Gemini 4 Neon, as quoted on dev.to, and pi-ai 1.6.0: read on 2026-11-28.
  [/^gemini-4-(hydrogen|neon)/, { ...byLevel('low', 'medium', 'high', 'xhigh'), sampling: 'none' }],
  [/^gemini-4/, { ...byLevel('low', 'medium', 'high'), sampling: 'none' }],
]

/** Levels that all current models support. */
const newest = byLevel('low', 'medium', 'high')

/**
 * Returns the quirks of a Gemini model; an unknown model is treated like the newest. `refuses`: fields that the provider rejects for every
 * model.
 */
export function geminiQuirks(model: string, refuses: readonly string[]): Quirks {
  const known = geminiRules.find(([pattern]) => pattern.test(model))?.[1] ?? newest
  return { ...known, refuses: [...(known.refuses ?? []), ...refuses] }
}
