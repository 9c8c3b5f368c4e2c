import type { Quirks } from '@signalbox/dialects/protocol'

// Quirks of OpenAI models in the OpenAI APIs, which hold on every provider.

/** Reasoning models control sampling and stopping themselves. None supports `top_k`. */
const reasoning: Quirks = { sampling: 'unless_thinking', refuses: ['top_k', 'stop'] }

/** The first match wins. Models without a row accept every field. */
const models: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^gpt-5(\.\d)?-chat/, {}],
  // These search in every request.
  [/^gpt-4o(-mini)?-search-preview/, { extendsPrompt: true }],
  [/^gpt-5-search-api/, { ...reasoning, extendsPrompt: true }],
  // Accepts `stop`, unlike its successors.
  [/^o3-mini/, { ...reasoning, refuses: ['top_k'], efforts: ['low', 'medium', 'high'] }],
  [/^o\d/, { ...reasoning, efforts: ['low', 'medium', 'high'] }],
  [/^gpt-5(-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/, { ...reasoning, efforts: ['minimal', 'low', 'medium', 'high'] }],
  // These reason only if requested.
  [/^gpt-5\.[1-4]/, { ...reasoning, thinksUnasked: false }],
  [/^gpt-5(?!\.[6-9])/, reasoning],
  [/^gpt-(5|6-sol|6-luna|6\.1-terra)/, { ...reasoning, effortWithoutTools: true }],
  // The newest, and any newer one: tools in Responses only, and the effort `none` is rejected
  // (developers.openai.com/api/docs/models/gpt-6.1-sol and gpt-6.2-sol, read on 2026-11-28).
  [
    /^gpt-([6-9]|\d\d)/,
    { ...reasoning, effortWithoutTools: true, toolsInResponses: true, efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  ],
]

/** `phase` came with gpt-5.3-codex; OpenAI asks to send it back for it and later models (openai-openapi, MessagePhase, 2026-08-21). */
const knowsPhases = /^gpt-(5\.3-codex|5\.[4-9]|[6-9]|\d\d)(?!.*-chat)/
const withPhases: Quirks = { messagePhases: true }

export function openaiQuirksOf(model: string): Quirks | undefined {
  const quirks = models.find(([id]) => id.test(model))?.[1]
  return knowsPhases.test(model) ? { ...quirks, ...withPhases } : quirks
}
