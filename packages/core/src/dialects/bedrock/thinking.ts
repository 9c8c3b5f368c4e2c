import type { Offer, Quirks, ThinkingStyle } from '../../protocol/model.ts'
import type { Effort, Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { nearestEffort, unsupported } from '../apply-quirks.ts'
import { thinkingBudget } from '../thinking-budget.ts'

// How much to think. This language leaves that to the fields of each model: Anthropic's `thinking`, a level, a switch.

export interface Thinking {
  /** Of the model's own: they go into `additionalModelRequestFields`. */
  readonly fields: JsonObject
  /** `thinking`: Anthropic's way, with which no call can be demanded and no sampling steered. `level`: only sampling cannot. */
  readonly rules: 'none' | 'level' | 'thinking'
  /** The output cap, where thinking needs another than the caller named. */
  readonly maxTokens?: number
  readonly warnings: readonly Warning[]
}

const nothing: Thinking = { fields: {}, rules: 'none', warnings: [] }
const off: Thinking = { ...nothing, fields: { thinking: { type: 'disabled' } } }
const warned = (message: string, thinking: Thinking = nothing): Thinking => ({
  ...thinking,
  warnings: [...thinking.warnings, unsupported('reasoning.effort', message)],
})

interface Asked {
  readonly prompt: Prompt
  readonly offer: Offer
  readonly quirks: Quirks
  /** Tools have answered calls that came without the thoughts that led to them. */
  readonly isUnthought: boolean
}

type Reasoning = NonNullable<Prompt['reasoning']>

export function writeThinking(asked: Asked): Thinking {
  const { prompt, quirks } = asked
  const { reasoning = {} } = prompt
  const isShown = reasoning.summary !== undefined && reasoning.summary !== 'none'
  const style = styleOf(quirks, reasoning.budget_tokens)
  const canShow = quirks.anthropic_fields === true && (style === 'adaptive' || style === 'budget')
  const thinking = thinkingOf(reasoning, { ...asked, style, isWanted: isShown && canShow })
  const isUnshown = isShown && !(canShow && thinking.rules === 'thinking')
  const isUnbudgeted = reasoning.budget_tokens !== undefined && style !== 'budget'
  return { ...thinking, warnings: [...thinking.warnings, ...(isUnshown ? [unshown] : []), ...(isUnbudgeted ? [unbudgeted] : [])] }
}

const unshown = unsupported('reasoning.summary', '`reasoning.summary` has no counterpart here and was left out.')
const unbudgeted = unsupported(
  'reasoning.budget_tokens',
  'This model takes no budget for its thoughts; `reasoning.budget_tokens` was left out.',
)

interface Styled extends Asked {
  readonly style: ThinkingStyle | undefined
  /** Thoughts are, whatever effort they take. */
  readonly isWanted: boolean
}

function thinkingOf({ effort }: Reasoning, asked: Styled): Thinking {
  const { style, quirks } = asked
  if (effort === undefined && !asked.isWanted) return nothing
  if (!style) return unthinking(effort)
  const isAnthropic = style === 'adaptive' || style === 'budget'
  return isAnthropic && effort === 'none' && quirks.thinking_off !== 'never' ? off : writers[style](effort, asked)
}

/** A budget that was named is kept where one can be said. */
const styleOf = ({ thinking = ['adaptive'] }: Quirks, budget: number | undefined): ThinkingStyle | undefined =>
  budget !== undefined && thinking.includes('budget') ? 'budget' : thinking[0]

const unthinking = (effort: Effort | undefined): Thinking =>
  effort === undefined || effort === 'none'
    ? nothing
    : warned('How much this model thinks cannot be said here; `reasoning.effort` was left out.')

const adaptiveEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

function adaptive(effort: Effort | undefined, { prompt, quirks }: Styled): Thinking {
  const near = effort === undefined ? undefined : nearestEffort(effort, quirks.efforts?.filter(each => each !== 'none') ?? adaptiveEfforts)
  return {
    fields: {
      thinking: { type: 'adaptive', ...displayOf(prompt, quirks) },
      ...(near?.effort && { output_config: { effort: near.effort } }),
    },
    rules: 'thinking',
    warnings: near?.warnings ?? [],
  }
}

function displayOf({ reasoning }: Prompt, { anthropic_fields }: Quirks): JsonObject {
  if (!anthropic_fields || reasoning?.summary === undefined) return {}
  return { display: reasoning.summary === 'none' ? 'omitted' : 'summarized' }
}

const usualCap = 32_000

/** Thinking is paid from the output cap. */
function budget(effort: Effort = 'medium', { prompt, offer, quirks, isUnthought }: Styled): Thinking {
  if (isUnthought)
    return warned(
      'The tool calls that were answered last came without thoughts of this model, which it demands; thinking was switched off.',
      off,
    )
  const longest = offer.max_output_tokens ?? quirks.thinking_budget?.max ?? 2 * usualCap
  const range = quirks.thinking_budget ?? { min: 1024, max: longest }
  const named = prompt.reasoning?.budget_tokens
  const room = Math.min(prompt.max_output_tokens ?? quirks.default_max_tokens ?? usualCap, longest)
  const fitted = thinkingBudget({ effort, named, cap: prompt.max_output_tokens === undefined ? undefined : room, room, longest, range })
  if (!fitted)
    return warned(`\`max_output_tokens\` leaves no room for thoughts, which take ${range.min} tokens at least; thinking was left off.`)
  const { budget: tokens, most: maxTokens } = fitted
  return {
    fields: { thinking: { type: 'enabled', budget_tokens: tokens } },
    rules: 'thinking',
    maxTokens,
    warnings:
      named === undefined || named === tokens
        ? []
        : [unsupported('reasoning.budget_tokens', `A thinking budget of ${named} tokens does not fit here; ${tokens} was used.`)],
  }
}

function toggle(effort: Effort | undefined, { quirks }: Styled): Thinking {
  const { thinking_switch: fields } = quirks
  if (effort === undefined || !fields) return unthinking(effort)
  if (effort === 'none') return { ...nothing, fields: fields.off }
  return warned(`Reasoning effort "${effort}" is not available here; thinking was switched on.`, { ...nothing, fields: fields.on })
}

/** A model's field for a level, and the levels that it knows where nobody says more. */
const levels = {
  reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'], write: (effort: Effort) => ({ reasoning: { effort } }) },
  reasoning_effort: { efforts: ['low', 'medium', 'high'], write: (effort: Effort) => ({ reasoning_effort: effort }) },
  reasoningConfig: {
    efforts: ['none', 'low', 'medium', 'high'],
    write: (effort: Effort) => ({
      reasoningConfig: effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: effort },
    }),
  },
} as const

function level(effort: Effort | undefined, { prompt, quirks }: Styled): Thinking {
  if (effort === undefined) return nothing
  const { thinking_field: field = 'reasoning_effort', efforts } = quirks
  const near = nearestEffort(effort, efforts ?? levels[field].efforts)
  if (!near.effort) return { ...nothing, warnings: near.warnings }
  // Nova thinks without any cap at its highest level, or not at that level.
  const isHighest = field === 'reasoningConfig' && near.effort === 'high'
  if (isHighest && prompt.max_output_tokens !== undefined) {
    const lower = { ...nothing, fields: levels[field].write('medium') }
    return warned('Reasoning effort "high" cannot go with `max_output_tokens` here; "medium" was used.', lower)
  }
  return { fields: levels[field].write(near.effort), rules: isHighest ? 'level' : 'none', warnings: near.warnings }
}

const writers: Readonly<Record<ThinkingStyle, (effort: Effort | undefined, asked: Styled) => Thinking>> = {
  adaptive,
  budget,
  level,
  toggle,
}
