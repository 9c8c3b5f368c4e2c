import { nearestEffort, unsupported } from '../common/apply-quirks.ts'
import { thinkingShares } from '../common/thinking-budget.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'

// Encodes the reasoning effort: current models take a level, earlier ones a number of tokens, the first ones nothing.

type Style = 'level' | 'budget' | 'toggle'

const isStyle = (style: string): style is Style => style === 'level' || style === 'budget' || style === 'toggle'

/** The thinking style; undefined for a model that does not think. */
const styleOf = ({ thinking }: Quirks): Style | undefined => (thinking ? thinking.find(isStyle) : 'level')

/** Whether the model has levels, and with them the other features of current models. */
export const thinksByLevel = (quirks: Quirks): boolean => styleOf(quirks) === 'level'

interface EncodedThinking {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

const unchanged: EncodedThinking = { fields: {}, warnings: [] }

export function encodeThinking({ reasoning }: Prompt, quirks: Quirks): EncodedThinking {
  const style = styleOf(quirks)
  if (!reasoning) return unchanged
  const { effort, summary } = reasoning
  if (!style) return effort === undefined || effort === 'none' ? unchanged : { fields: {}, warnings: [noThinking] }
  const { fields, warnings } = encoders[style](reasoning, quirks)
  const includeThoughts = summary !== undefined && summary !== 'none'
  const thinkingConfig = { ...fields, ...(includeThoughts && { includeThoughts }) }
  return { fields: Object.keys(thinkingConfig).length > 0 ? { thinkingConfig } : {}, warnings }
}

const noThinking = unsupported('reasoning.effort', 'This model does not support reasoning; `reasoning.effort` was left out.')

type Reasoning = NonNullable<Prompt['reasoning']>

const levels: ReadonlyMap<string, string> = new Map([
  ['minimal', 'MINIMAL'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
  ['xhigh', 'XHIGH'],
])

/** The levels that every model with levels has. */
const defaultEfforts = ['low', 'medium', 'high']

function level({ effort }: Reasoning, { efforts = defaultEfforts }: Quirks): EncodedThinking {
  if (!effort) return unchanged
  const near = nearestEffort(
    effort,
    efforts.filter(each => levels.has(each)),
  )
  const thinkingLevel = levels.get(near.effort ?? '')
  return { fields: { ...(thinkingLevel !== undefined && { thinkingLevel }) }, warnings: near.warnings }
}

/** The longest response of any model. */
const maxAnswerTokens = 65_536

function budgetThinking({ effort, budget_tokens }: Reasoning, { thinkingBudget, thinkingOff, efforts }: Quirks): EncodedThinking {
  const { min, max } = thinkingBudget ?? { min: 1, max: maxAnswerTokens }
  const clamp = (tokens: number): number => Math.min(max, Math.max(min, tokens))
  if (budget_tokens !== undefined && effort !== 'none') {
    const tokens = clamp(budget_tokens)
    const message = `A thinking budget of ${budget_tokens} tokens is out of range for this model; ${tokens} was used.`
    return budgetOf(tokens, tokens === budget_tokens ? [] : [unsupported('reasoning.budget_tokens', message)])
  }
  if (!effort) return unchanged
  if (effort === 'none') {
    if (thinkingOff !== 'never') return budgetOf(0)
    const message = `This model cannot turn thinking off; its budget was set to ${min} tokens.`
    return budgetOf(min, [unsupported('reasoning.effort', message)])
  }
  const near = nearestEffort(effort, efforts)
  if (!near.effort) return { fields: {}, warnings: near.warnings }
  return budgetOf(clamp(Math.round(thinkingShares[near.effort] * maxAnswerTokens)), near.warnings)
}

const budgetOf = (thinkingBudget: number, warnings: readonly Warning[] = []): EncodedThinking => ({ fields: { thinkingBudget }, warnings })

/** Lets the model choose the budget. */
const dynamicBudget = -1

const toggle = ({ effort }: Reasoning): EncodedThinking => (effort ? budgetOf(effort === 'none' ? 0 : dynamicBudget) : unchanged)

const encoders: Readonly<Record<Style, (reasoning: Reasoning, quirks: Quirks) => EncodedThinking>> = {
  level,
  budget: budgetThinking,
  toggle,
}
