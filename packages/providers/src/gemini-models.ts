import type { Quirks } from '@signalbox/dialects/protocol'

// Quirks of Google models, by id prefix. As of 2026-11.

const penalties = ['frequency_penalty', 'presence_penalty']

/** Thinking is set by level and cannot be switched off completely; a function call must be returned with its signature. */
const byLevel = (...efforts: readonly string[]): Quirks => ({ thinking: ['level'], efforts, refuses: penalties })

/**
 * Thinking is set in tokens; a response schema and tools exclude each other. Tool results hold media since Gemini 3: ai.google.dev, function
 * calling, 2026-11.
 */
const byBudget = (min: number, max: number): Quirks => ({
  thinking: ['budget'],
  thinkingBudget: { min, max },
  jsonSchemaWithoutTools: true,
  textOnlyResults: true,
  refuses: penalties,
})

const withoutThinking: Quirks = { thinking: [], jsonSchemaWithoutTools: true, textOnlyResults: true }

/**
 * Models since 3.6, and 3.5 Flash-Lite, refuse a conversation that ends with the model: 400 "Requests ending with a model turn are not
 * supported unless the last part is a function response." Sources: answers of the API in LibreChat-AI/agents#323 (2026-07-21, also which
 * models still take it) and pipecat-ai/pipecat#5821 (2026-09-17).
 */
const withoutPrefill: Quirks = { noPrefill: true }

/** The first match wins. */
const geminiRules: readonly (readonly [pattern: RegExp, Quirks])[] = [
  [/^gemma-[123]/, { ...withoutThinking, noSystem: true, jsonSchema: 'words' }],
  [/^gemma/, { ...withoutThinking, noSystem: true }],
  [/^gemini-(1|2\.0)/, withoutThinking],
  [/^gemini-2\.5-flash-image/, { ...withoutThinking, refuses: penalties, ownImages: true }],
  [/^gemini-2\.5-flash-lite/, byBudget(512, 24_576)],
  [/^gemini-2\.5-flash/, byBudget(1, 24_576)],
  [/^gemini-2/, { ...byBudget(128, 32_768), thinkingOff: 'never' }],
  [/^gemini-3-pro-image/, byLevel('high')],
  [/^gemini-3-pro/, byLevel('low', 'high')],
  [/^gemini-3(\.6-flash|\.5-flash-lite)/, { ...byLevel('minimal', 'low', 'medium', 'high'), ...withoutPrefill }],
  [/^gemini-3(\.[1-5])?-flash/, byLevel('minimal', 'low', 'medium', 'high')],
  [/^gemini-3\.[1-5]/, byLevel('low', 'medium', 'high')],
  // Sampling parameters are ignored, not rejected.
  // Google's page of Gemini 4 Neon, as quoted on dev.to, and pi-ai 1.6.0: read on 2026-11-28.
  [/^gemini-4-(hydrogen|neon)/, { ...byLevel('low', 'medium', 'high', 'xhigh'), ...withoutPrefill, sampling: 'none' }],
  [/^gemini-4/, { ...byLevel('low', 'medium', 'high'), ...withoutPrefill, sampling: 'none' }],
]

/** What every new model accepts. */
const newest: Quirks = { ...byLevel('low', 'medium', 'high'), ...withoutPrefill }

/**
 * Returns the quirks of a Gemini model; an unknown model is treated like the newest. `refuses`: fields that the provider rejects for every
 * model.
 */
export function geminiQuirks(model: string, refuses: readonly string[]): Quirks {
  const known = geminiRules.find(([pattern]) => pattern.test(model))?.[1] ?? newest
  return { ...known, refuses: [...(known.refuses ?? []), ...refuses] }
}
