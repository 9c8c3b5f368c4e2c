import type { Quirks } from '../../protocol/model.ts'
import type { Effort, Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { nearestEffort, unsupported } from '../apply-quirks.ts'
import { thinkingShares } from '../thinking-budget.ts'

// How much to think: by level on the models of today, by tokens on those before, not at all on the first ones.

type Style = 'level' | 'budget' | 'toggle'

const isStyle = (style: string): style is Style => style === 'level' || style === 'budget' || style === 'toggle'

/** Nothing: a model that does not think. */
const styleOf = ({ thinking }: Quirks): Style | undefined => (thinking ? thinking.find(isStyle) : 'level')

/** Facts that came with the models that think by level. */
export const isOfToday = (quirks: Quirks): boolean => styleOf(quirks) === 'level'

interface Thinking {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

const none: Thinking = { fields: {}, warnings: [] }

/** Thoughts in words come only where they are wanted. */
export function writeThinking({ reasoning }: Prompt, quirks: Quirks): Thinking {
  const style = styleOf(quirks)
  if (!reasoning) return none
  if (!style) return isMeant(reasoning.effort) ? { fields: {}, warnings: [noThinking] } : none
  const { fields, warnings } = writers[style](reasoning, quirks)
  const wanted = reasoning.summary !== undefined && reasoning.summary !== 'none'
  const thinkingConfig = { ...fields, ...(wanted && { includeThoughts: true }) }
  return { fields: Object.keys(thinkingConfig).length > 0 ? { thinkingConfig } : {}, warnings }
}

const isMeant = (effort: Effort | undefined): boolean => effort !== undefined && effort !== 'none'

const noThinking = unsupported('reasoning.effort', 'This model does not think; `reasoning.effort` was left out.')

type Reasoning = NonNullable<Prompt['reasoning']>

const levels: ReadonlyMap<string, string> = new Map([
  ['minimal', 'MINIMAL'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
])

/** Every model that knows levels knows these. */
const usualLevels = ['low', 'medium', 'high']

function byLevel({ effort }: Reasoning, { efforts = usualLevels }: Quirks): Thinking {
  if (!effort) return none
  const near = nearestEffort(
    effort,
    efforts.filter(each => levels.has(each)),
  )
  const thinkingLevel = levels.get(near.effort ?? '')
  return { fields: { ...(thinkingLevel !== undefined && { thinkingLevel }) }, warnings: near.warnings }
}

/** What the longest answer may have. */
const longest = 65_536

function byBudget({ effort, budget_tokens }: Reasoning, { thinking_budget, thinking_off, efforts }: Quirks): Thinking {
  const { min, max } = thinking_budget ?? { min: 1, max: longest }
  const clamp = (tokens: number): number => Math.min(max, Math.max(min, tokens))
  if (budget_tokens !== undefined && effort !== 'none') {
    const tokens = clamp(budget_tokens)
    const warnings =
      tokens === budget_tokens
        ? []
        : [unsupported('reasoning.budget_tokens', `A thinking budget of ${budget_tokens} tokens is out of range here; ${tokens} was used.`)]
    return { fields: { thinkingBudget: tokens }, warnings }
  }
  if (!effort) return none
  if (effort === 'none') {
    if (thinking_off !== 'never') return { fields: { thinkingBudget: 0 }, warnings: [] }
    return {
      fields: { thinkingBudget: min },
      warnings: [unsupported('reasoning.effort', `Thinking cannot be switched off here; ${min} tokens were allowed for it.`)],
    }
  }
  const near = nearestEffort(effort, efforts)
  return {
    fields: near.effort ? { thinkingBudget: clamp(Math.round(thinkingShares[near.effort] * longest)) } : {},
    warnings: near.warnings,
  }
}

/** On is as much as the model likes. */
const bySwitch = ({ effort }: Reasoning): Thinking =>
  effort ? { fields: { thinkingBudget: effort === 'none' ? 0 : -1 }, warnings: [] } : none

const writers: Readonly<Record<Style, (reasoning: Reasoning, quirks: Quirks) => Thinking>> = {
  level: byLevel,
  budget: byBudget,
  toggle: bySwitch,
}
