import type { Quirks } from '../protocol/model.ts'

// What single models of OpenAI want, wherever they are served in OpenAI's own languages.

/** Models that think choose their words and where to stop by themselves. `top_k` none of them knows. */
const thinks: Quirks = { sampling: 'unless_thinking', refuses: ['top_k', 'stop'] }

/** First match wins. What none of them knows, an older or another model, takes everything. */
const models: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^gpt-5(\.\d)?-chat/, {}],
  // Unlike its successors it takes `stop`.
  [/^o3-mini/, { ...thinks, refuses: ['top_k'], efforts: ['low', 'medium', 'high'] }],
  [/^o\d/, { ...thinks, efforts: ['low', 'medium', 'high'] }],
  [/^gpt-5(-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/, { ...thinks, efforts: ['minimal', 'low', 'medium', 'high'] }],
  // These think only where they are asked to.
  [/^gpt-5\.[1-4]/, { ...thinks, thinks_unasked: false }],
  [/^gpt-5(?!\.[6-9])/, thinks],
  [/^gpt-(6-astra|6\.1-sol)/, { ...thinks, effort_without_tools: true, tools_in_responses: true }],
  [/^gpt-([5-9]|\d\d)/, { ...thinks, effort_without_tools: true }],
]

export const openaiQuirksOf = (model: string): Quirks | undefined => models.find(([id]) => id.test(model))?.[1]
