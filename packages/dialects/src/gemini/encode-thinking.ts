import type { BodyDraft } from '../common/body-draft.ts'
import { thinkingShares } from '../common/thinking-budget.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'

// Encodes the reasoning effort: current models take a level, earlier ones a number of tokens, the first ones nothing.

/** The thinking style; undefined for a model that does not think. */
const styleOf = ({ thinking }: Quirks): string | undefined => (thinking ? thinking.find(style => style !== 'adaptive') : 'level')

/** Whether the model has levels, and with them the other features of current models. */
export const thinksByLevel = (quirks: Quirks): boolean => styleOf(quirks) === 'level'

/** Sets `thinkingConfig`. */
export function encodeThinking({ reasoning }: Prompt, config: BodyDraft): void {
  if (!reasoning) return
  const { effort, summary } = reasoning
  const style = styleOf(config.quirks)
  if (!style) {
    if (effort !== undefined && effort !== 'none')
      config.warn('reasoning.effort', 'This model does not support reasoning; `reasoning.effort` was left out.')
    return
  }
  // A budget of -1 lets the model choose it.
  const toggled = effort && { thinkingBudget: effort === 'none' ? 0 : -1 }
  const thinking = style === 'level' ? encodeLevel(reasoning, config) : style === 'budget' ? encodeBudget(reasoning, config) : toggled
  config.setObject('thinkingConfig', { ...thinking, includeThoughts: (summary !== undefined && summary !== 'none') || undefined })
}

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

function encodeLevel({ effort }: Reasoning, config: BodyDraft): JsonObject {
  const { efforts = defaultEfforts } = config.quirks
  const known = efforts.filter(each => levels.has(each))
  return { thinkingLevel: levels.get((effort && config.nearestEffort(effort, known)) ?? '') }
}

/** The longest response of any model. */
const maxAnswerTokens = 65_536

function encodeBudget({ effort, budget_tokens }: Reasoning, config: BodyDraft): JsonObject | undefined {
  const { thinkingBudget: { min, max } = { min: 1, max: maxAnswerTokens }, thinkingOff, efforts } = config.quirks
  const clamp = (tokens: number): number => Math.min(max, Math.max(min, tokens))
  if (budget_tokens !== undefined && effort !== 'none') {
    const thinkingBudget = clamp(budget_tokens)
    if (thinkingBudget !== budget_tokens)
      config.warn(
        'reasoning.budget_tokens',
        `A thinking budget of ${budget_tokens} tokens is out of range for this model; ${thinkingBudget} was used.`,
      )
    return { thinkingBudget }
  }
  if (!effort) return undefined
  if (effort === 'none') {
    if (thinkingOff !== 'never') return { thinkingBudget: 0 }
    config.warn('reasoning.effort', `This model cannot turn thinking off; its budget was set to ${min} tokens.`)
    return { thinkingBudget: min }
  }
  const near = config.nearestEffort(effort, efforts)
  return near && { thinkingBudget: clamp(Math.round(thinkingShares[near] * maxAnswerTokens)) }
}
