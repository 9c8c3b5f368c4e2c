import type { Quirks } from '@signalbox/dialects/protocol'

// Quirks that several vendors share.

/** The vendor only supports the old name of the output limit. */
export const oldMaxTokens: Quirks = { maxTokensField: 'max_tokens' }
/** Penalties, which many vendors ignore. */
export const penalties = ['frequency_penalty', 'presence_penalty']
export const probabilities = ['logprobs', 'top_logprobs']
/** Fields that only OpenAI has. Hosts that validate every field reject them. */
export const openaiOnlyFields = ['safety_identifier', 'verbosity', 'store']
/** The reasoning switch that most vendors of reasoning models use. */
export const thinkingType = { on: { thinking: { type: 'enabled' } }, off: { thinking: { type: 'disabled' } } }
