import { nearestEffort } from '../common/body-draft.ts'
import { thinkingBudget } from '../common/thinking-budget.ts'
import type { Offer, ThinkingStyle } from '../protocol/model.ts'
import type { Effort, Prompt } from '../protocol/request.ts'
import type { BedrockDraft } from './draft.ts'

// Encodes the reasoning effort. The fields differ by model: Anthropic's `thinking`, a level, or a switch.

/** What the thinking of a request means for its other fields. */
export interface ThinkingLimits {
  /** What the request must not set in this thinking mode. */
  readonly restricts: 'none' | 'sampling' | 'sampling-and-tools'
  /** Replaces the client's output limit. */
  readonly maxTokens?: number
}

const unlimited: ThinkingLimits = { restricts: 'none' }
const defaultStyles: readonly ThinkingStyle[] = ['adaptive']

/** `lacksThinkingBeforeCalls`: whether the latest tool results belong to calls that lack the reasoning before them. */
export function encodeThinking(prompt: Prompt, offer: Offer, lacksThinkingBeforeCalls: boolean, draft: BedrockDraft): ThinkingLimits {
  const { quirks, model } = draft
  const { effort, summary, budget_tokens } = prompt.reasoning ?? {}
  const styles = quirks.thinking ?? defaultStyles
  const style = budget_tokens !== undefined && styles.includes('budget') ? 'budget' : styles[0]
  const isAnthropic = style === 'adaptive' || style === 'budget'
  const wantsSummary = summary !== undefined && summary !== 'none'
  const hasSummary = quirks.anthropicFields === true && isAnthropic
  let limits = unlimited
  if (isAnthropic && effort === 'none' && quirks.thinkingOff !== 'never') model.set('thinking', { type: 'disabled' })
  else if (isAnthropic && (effort !== undefined || (wantsSummary && hasSummary))) {
    if (style === 'adaptive') limits = encodeAdaptive(prompt, draft)
    else if (lacksThinkingBeforeCalls) {
      model.set('thinking', { type: 'disabled' })
      draft.warn('reasoning.effort', 'The latest tool calls lack the reasoning content that this model requires; thinking was turned off.')
    } else limits = encodeBudget(prompt, offer, draft)
  } else if (effort !== undefined) {
    if (style === 'level') limits = encodeLevel(effort, prompt, draft)
    else if (quirks.thinkingSwitch && style === 'toggle') {
      model.assign(effort === 'none' ? quirks.thinkingSwitch.off : quirks.thinkingSwitch.on)
      if (effort !== 'none')
        draft.warn('reasoning.effort', `Reasoning effort "${effort}" is not supported by this model; thinking was turned on.`)
    } else if (effort !== 'none') draft.warn('reasoning.effort', 'This model does not support `reasoning.effort`; it was left out.')
  }
  if (wantsSummary && !(hasSummary && limits.restricts === 'sampling-and-tools')) draft.omit('reasoning.summary')
  if (budget_tokens !== undefined && style !== 'budget')
    draft.warn('reasoning.budget_tokens', 'This model does not support a thinking budget; `reasoning.budget_tokens` was left out.')
  return limits
}

const adaptiveEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

function encodeAdaptive({ reasoning = {} }: Prompt, draft: BedrockDraft): ThinkingLimits {
  const { quirks, model } = draft
  const { effort, summary } = reasoning
  const near = effort && draft.nearestEffort(effort, quirks.efforts?.filter(each => each !== 'none') ?? adaptiveEfforts)
  const display = !quirks.anthropicFields || summary === undefined ? undefined : summary === 'none' ? 'omitted' : 'summarized'
  model.set('thinking', { type: 'adaptive', display })
  if (near) model.set('output_config', { effort: near })
  return { restricts: 'sampling-and-tools' }
}

const defaultMaxTokens = 32_000
const minBudget = 1024

/** Thinking with a token budget. Reasoning counts against the output limit. */
function encodeBudget({ reasoning = {}, max_output_tokens }: Prompt, offer: Offer, draft: BedrockDraft): ThinkingLimits {
  const { quirks, model } = draft
  const { effort = 'medium', budget_tokens: named } = reasoning
  const longest = offer.maxOutputTokens ?? quirks.thinkingBudget?.max ?? 2 * defaultMaxTokens
  const range = quirks.thinkingBudget ?? { min: minBudget, max: longest }
  const room = Math.min(max_output_tokens ?? quirks.defaultMaxTokens ?? defaultMaxTokens, longest)
  const cap = max_output_tokens === undefined ? undefined : room
  const fitted = thinkingBudget({ effort, named, cap, room, longest, range })
  if (!fitted) {
    draft.warn(
      'reasoning.effort',
      `\`max_output_tokens\` is too small for thinking, which needs at least ${range.min} tokens; thinking was left off.`,
    )
    return unlimited
  }
  model.set('thinking', { type: 'enabled', budget_tokens: fitted.budget })
  if (named !== undefined && named !== fitted.budget)
    draft.warn(
      'reasoning.budget_tokens',
      `A thinking budget of ${named} tokens is out of range for this request; ${fitted.budget} was used.`,
    )
  return { restricts: 'sampling-and-tools', maxTokens: fitted.most }
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

function encodeLevel(effort: Effort, { max_output_tokens }: Prompt, draft: BedrockDraft): ThinkingLimits {
  const { thinkingField: field = 'reasoning_effort', efforts } = draft.quirks
  const { encode, efforts: usual } = levelFields[field]
  const known = efforts ?? usual
  // Nova's highest level accepts no output limit.
  const isUnlimited = field === 'reasoningConfig' && nearestEffort(effort, known) === 'high'
  if (isUnlimited && max_output_tokens !== undefined) {
    draft.model.assign(encode('medium'))
    draft.warn('reasoning.effort', 'Reasoning effort "high" cannot be combined with `max_output_tokens` for this model; "medium" was used.')
    return unlimited
  }
  const near = draft.nearestEffort(effort, known)
  if (near) draft.model.assign(encode(near))
  return isUnlimited ? { restricts: 'sampling' } : unlimited
}
