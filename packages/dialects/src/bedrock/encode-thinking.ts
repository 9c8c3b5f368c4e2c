import { nearestEffort, unsupported } from '../common/apply-quirks.ts'
import { thinkingBudget } from '../common/thinking-budget.ts'
import type { Offer, Quirks, ThinkingStyle } from '../protocol/model.ts'
import type { Effort, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'

// Encodes the reasoning effort. The fields differ by model: Anthropic's `thinking`, a level, or a switch.

export interface EncodedThinking {
  /** Fields for `additionalModelRequestFields`. */
  readonly fields: JsonObject
  /** What the request must not set in this thinking mode. */
  readonly restricts: 'none' | 'sampling' | 'sampling-and-tools'
  /** Replaces the client's output limit. */
  readonly maxTokens?: number
  readonly warnings: readonly Warning[]
}

const unchanged: EncodedThinking = { fields: {}, restricts: 'none', warnings: [] }
const disabled: EncodedThinking = { ...unchanged, fields: { thinking: { type: 'disabled' } } }
const withWarning = (message: string, thinking: EncodedThinking = unchanged): EncodedThinking => ({
  ...thinking,
  warnings: [...thinking.warnings, unsupported('reasoning.effort', message)],
})

interface ThinkingContext {
  readonly prompt: Prompt
  readonly offer: Offer
  readonly quirks: Quirks
  /** Whether the latest tool results belong to calls that lack the reasoning before them. */
  readonly lacksThinkingBeforeCalls: boolean
}

type Reasoning = NonNullable<Prompt['reasoning']>

export function encodeThinking(context: ThinkingContext): EncodedThinking {
  const { prompt, quirks } = context
  const { reasoning = {} } = prompt
  const wantsSummary = reasoning.summary !== undefined && reasoning.summary !== 'none'
  const style = styleOf(quirks, reasoning.budget_tokens)
  const hasSummary = quirks.anthropicFields === true && (style === 'adaptive' || style === 'budget')
  const thinking = thinkingFor(reasoning, { ...context, style, isRequired: wantsSummary && hasSummary })
  const lacksSummary = wantsSummary && !(hasSummary && thinking.restricts === 'sampling-and-tools')
  const lacksBudget = reasoning.budget_tokens !== undefined && style !== 'budget'
  return { ...thinking, warnings: [...thinking.warnings, ...(lacksSummary ? [noSummary] : []), ...(lacksBudget ? [noBudget] : [])] }
}

const noSummary = unsupported('reasoning.summary', '`reasoning.summary` is not supported by this provider and was left out.')
const noBudget = unsupported(
  'reasoning.budget_tokens',
  'This model does not support a thinking budget; `reasoning.budget_tokens` was left out.',
)

interface StyledContext extends ThinkingContext {
  readonly style: ThinkingStyle | undefined
  /** Whether the client wants to see the reasoning, at whatever effort. */
  readonly isRequired: boolean
}

function thinkingFor({ effort }: Reasoning, context: StyledContext): EncodedThinking {
  const { style, quirks } = context
  if (effort === undefined && !context.isRequired) return unchanged
  if (!style) return effortOmitted(effort)
  const isAnthropic = style === 'adaptive' || style === 'budget'
  return isAnthropic && effort === 'none' && quirks.thinkingOff !== 'never' ? disabled : encoders[style](effort, context)
}

/** Returns the model's first style, or `budget` if the request sets a budget and the model supports it. */
const styleOf = ({ thinking = ['adaptive'] }: Quirks, budget: number | undefined): ThinkingStyle | undefined =>
  budget !== undefined && thinking.includes('budget') ? 'budget' : thinking[0]

const effortOmitted = (effort: Effort | undefined): EncodedThinking =>
  effort === undefined || effort === 'none' ? unchanged : withWarning('This model does not support `reasoning.effort`; it was left out.')

const adaptiveEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

function adaptive(effort: Effort | undefined, { prompt, quirks }: StyledContext): EncodedThinking {
  const known = quirks.efforts?.filter(each => each !== 'none') ?? adaptiveEfforts
  const near = effort === undefined ? undefined : nearestEffort(effort, known)
  return {
    fields: {
      thinking: { type: 'adaptive', ...displayField(prompt, quirks) },
      ...(near?.effort && { output_config: { effort: near.effort } }),
    },
    restricts: 'sampling-and-tools',
    warnings: near?.warnings ?? [],
  }
}

function displayField({ reasoning }: Prompt, { anthropicFields }: Quirks): JsonObject {
  if (!anthropicFields || reasoning?.summary === undefined) return {}
  return { display: reasoning.summary === 'none' ? 'omitted' : 'summarized' }
}

const defaultMaxTokens = 32_000
const minBudget = 1024

/** Thinking with a token budget. Reasoning counts against the output limit. */
function budgetThinking(effort: Effort = 'medium', { prompt, offer, quirks, lacksThinkingBeforeCalls }: StyledContext): EncodedThinking {
  if (lacksThinkingBeforeCalls)
    return withWarning('The latest tool calls lack the reasoning content that this model requires; thinking was turned off.', disabled)
  const longest = offer.maxOutputTokens ?? quirks.thinkingBudget?.max ?? 2 * defaultMaxTokens
  const range = quirks.thinkingBudget ?? { min: minBudget, max: longest }
  const named = prompt.reasoning?.budget_tokens
  const room = Math.min(prompt.max_output_tokens ?? quirks.defaultMaxTokens ?? defaultMaxTokens, longest)
  const cap = prompt.max_output_tokens === undefined ? undefined : room
  const fitted = thinkingBudget({ effort, named, cap, room, longest, range })
  if (!fitted)
    return withWarning(`\`max_output_tokens\` is too small for thinking, which needs at least ${range.min} tokens; thinking was left off.`)
  const { budget: tokens, most: maxTokens } = fitted
  const changed = unsupported(
    'reasoning.budget_tokens',
    `A thinking budget of ${named} tokens is out of range for this request; ${tokens} was used.`,
  )
  return {
    fields: { thinking: { type: 'enabled', budget_tokens: tokens } },
    restricts: 'sampling-and-tools',
    maxTokens,
    warnings: named === undefined || named === tokens ? [] : [changed],
  }
}

function toggle(effort: Effort | undefined, { quirks }: StyledContext): EncodedThinking {
  const { thinkingSwitch: fields } = quirks
  if (effort === undefined || !fields) return effortOmitted(effort)
  if (effort === 'none') return { ...unchanged, fields: fields.off }
  return withWarning(`Reasoning effort "${effort}" is not supported by this model; thinking was turned on.`, {
    ...unchanged,
    fields: fields.on,
  })
}

/** Model fields that set a level, each with its default levels. */
const levelFields = {
  reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'], encode: (effort: Effort) => ({ reasoning: { effort } }) },
  reasoning_effort: { efforts: ['low', 'medium', 'high'], encode: (effort: Effort) => ({ reasoning_effort: effort }) },
  reasoningConfig: {
    efforts: ['none', 'low', 'medium', 'high'],
    encode: (effort: Effort) => ({
      reasoningConfig: effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: effort },
    }),
  },
} as const

function level(effort: Effort | undefined, { prompt, quirks }: StyledContext): EncodedThinking {
  if (effort === undefined) return unchanged
  const { thinkingField: field = 'reasoning_effort', efforts } = quirks
  const near = nearestEffort(effort, efforts ?? levelFields[field].efforts)
  if (!near.effort) return { ...unchanged, warnings: near.warnings }
  // Nova's highest level accepts no output limit.
  const isUnlimited = field === 'reasoningConfig' && near.effort === 'high'
  if (isUnlimited && prompt.max_output_tokens !== undefined) {
    const lower = { ...unchanged, fields: levelFields[field].encode('medium') }
    return withWarning('Reasoning effort "high" cannot be combined with `max_output_tokens` for this model; "medium" was used.', lower)
  }
  return { fields: levelFields[field].encode(near.effort), restricts: isUnlimited ? 'sampling' : 'none', warnings: near.warnings }
}

const encoders: Readonly<Record<ThinkingStyle, (effort: Effort | undefined, context: StyledContext) => EncodedThinking>> = {
  adaptive,
  budget: budgetThinking,
  level,
  toggle,
}
