import type { Quirks } from '../protocol/model.ts'

// What single models of OpenAI want, wherever they are served in OpenAI's own languages.

/** First match wins. What none of them knows, an older or another model, takes everything. */
const models: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^gpt-5(\.\d)?-chat/, {}],
  [/^o\d/, { sampling: 'unless_thinking', efforts: ['low', 'medium', 'high'] }],
  [/^gpt-5(-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/, { sampling: 'unless_thinking', efforts: ['minimal', 'low', 'medium', 'high'] }],
  // These think only where they are asked to.
  [/^gpt-5\.[1-4]/, { sampling: 'unless_thinking', thinks_unasked: false }],
  [/^gpt-([5-9]|\d\d)/, { sampling: 'unless_thinking' }],
]

export const openaiQuirksOf = (model: string): Quirks | undefined => models.find(([id]) => id.test(model))?.[1]
