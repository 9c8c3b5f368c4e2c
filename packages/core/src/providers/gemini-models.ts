import type { Quirks } from '../protocol/model.ts'

// What is known of Google's models, by the beginning of their ids. As of 2026-11.

const penalties = ['frequency_penalty', 'presence_penalty']

/** Thinking is asked for by level and never quite off; a call must come back with its signature. */
const byLevel = (...efforts: readonly string[]): Quirks => ({ thinking: ['level'], efforts, refuses: penalties })

/** Thinking is asked for in tokens; a shape of the answer and tools exclude each other. */
const byBudget = (min: number, max: number): Quirks => ({
  thinking: ['budget'],
  thinking_budget: { min, max },
  json_schema_without_tools: true,
  refuses: penalties,
})

const thoughtless: Quirks = { thinking: [], json_schema_without_tools: true }

/** First fit wins. */
const geminiRules: readonly (readonly [beginning: RegExp, Quirks])[] = [
  [/^gemma-[123]/, { ...thoughtless, no_system: true, json_schema: 'words' }],
  [/^gemma/, { ...thoughtless, no_system: true }],
  [/^gemini-(1|2\.0)/, thoughtless],
  [/^gemini-2\.5-flash-image/, { ...thoughtless, refuses: penalties, own_images: true }],
  [/^gemini-2\.5-flash-lite/, byBudget(512, 24_576)],
  [/^gemini-2\.5-flash/, byBudget(1, 24_576)],
  [/^gemini-2/, { ...byBudget(128, 32_768), thinking_off: 'never' }],
  [/^gemini-3-pro-image/, byLevel('high')],
  [/^gemini-3-pro/, byLevel('low', 'high')],
  [/^gemini-3(\.[1-6])?-flash/, byLevel('minimal', 'low', 'medium', 'high')],
  // Sampling is not refused there, it is not heeded.
  [/^gemini-4-hydrogen/, { ...byLevel('low', 'medium', 'high', 'xhigh'), sampling: 'none' }],
  [/^gemini-4/, { ...byLevel('low', 'medium', 'high'), sampling: 'none' }],
]

/** What every model of today knows. */
const newest = byLevel('low', 'medium', 'high')

/** A model that is not known is taken for one of the newest. `refuses`: what is refused where it is served, whatever the model. */
export function geminiQuirks(model: string, refuses: readonly string[]): Quirks {
  const known = geminiRules.find(([beginning]) => beginning.test(model))?.[1] ?? newest
  return { ...known, refuses: [...(known.refuses ?? []), ...refuses] }
}
