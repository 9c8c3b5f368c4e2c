import type { Offer, Quirks, ThinkingStyle } from '../../protocol/model.ts'
import type { Effort, Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { nearestEffort, unsupported } from '../apply-quirks.ts'
import { thinkingBudget } from '../thinking-budget.ts'
import { fitsThinking } from './compatibility.ts'
import { isUnthoughtLoop } from './items.ts'
import { originalBody } from './wire.ts'

// How much the model thinks, and how long the answer may become: one cap holds both there.

export interface Thinking {
  /** Absent: the model does as it always does. */
  readonly thinking?: JsonObject
  readonly effort?: string
  readonly max_tokens: number
  readonly warnings: readonly Warning[]
}

/** What may be asked of this model. */
interface Facts {
  readonly quirks: Quirks
  /** The longest answer of the model, thoughts included. */
  readonly longest: number
}

/** What callers get who name no cap, where the model can say so much. */
const usual = 32_000

export function writeThinking(prompt: Prompt, { max_output_tokens: most }: Offer, quirks: Quirks): Thinking {
  const facts: Facts = { quirks, longest: most ?? quirks.thinking_budget?.max ?? Number.POSITIVE_INFINITY }
  const wanted = prompt.max_output_tokens
  const room = Math.min(wanted ?? quirks.default_max_tokens ?? usual, facts.longest)
  const { max_tokens = room, warnings = [], ...thinking } = thinkingOf(prompt, room, facts)
  const isCut = wanted !== undefined && wanted > facts.longest
  const cut = unsupported(
    'max_output_tokens',
    `This model writes ${facts.longest} tokens at most; \`max_output_tokens\` was lowered to that.`,
  )
  return { ...thinking, max_tokens, warnings: isCut ? [cut, ...warnings] : warnings }
}

type Asked = Partial<Thinking>

function thinkingOf({ reasoning, input, max_output_tokens }: Prompt, room: number, facts: Facts): Asked {
  if (!reasoning) return {}
  const known = originalBody(reasoning)
  if (known && fitsThinking(known, facts.quirks)) return { ...(isObject(known.thinking) && { thinking: known.thinking }) }
  const { effort, summary, budget_tokens } = reasoning
  const isShown = summary !== undefined && summary !== 'none'
  if (effort === undefined && budget_tokens === undefined && !isShown) return known ? { warnings: [unknownKind] } : {}
  const { quirks } = facts
  if (effort === 'none' && quirks.thinking_off !== 'never') return quirks.thinking?.length === 0 ? {} : off
  const style = styleOf(quirks, budget_tokens)
  if (!style)
    return {
      warnings: [unsupported(effort ? 'reasoning.effort' : 'reasoning.summary', 'This model does not think; it was asked without.')],
    }
  const display = summary === undefined ? {} : { display: isShown ? 'summarized' : 'omitted' }
  if (style === 'budget' && isUnthoughtLoop(input)) return { ...off, warnings: [unthought] }
  return writers[style]({ ...reasoning, display, room, cap: max_output_tokens === undefined ? undefined : room }, facts)
}

const off: Asked = { thinking: { type: 'disabled' } }

const unknownKind = unsupported('reasoning', 'This model takes no thinking of the kind that was asked for; it was asked without.')

const unthought = unsupported(
  'reasoning.effort',
  'The tool calls that were answered last came without this model’s own thoughts, which it demands; thinking was switched off.',
)

const newest: readonly ThinkingStyle[] = ['adaptive']

/** The first that fits: a number of tokens fits a budget. */
function styleOf({ thinking = newest }: Quirks, budget: number | undefined): Style | undefined {
  const styles = thinking.filter(style => style !== 'level')
  return budget !== undefined && styles.includes('budget') ? 'budget' : styles[0]
}

type Style = Exclude<ThinkingStyle, 'level'>

interface Wish {
  readonly effort?: Effort
  readonly budget_tokens?: number
  readonly display: JsonObject
  /** For the answer itself. */
  readonly room: number
  /** On the whole, where the caller named one. */
  readonly cap: number | undefined
}

const levels = ['low', 'medium', 'high', 'xhigh', 'max']

const writers: Readonly<Record<Style, (wish: Wish, facts: Facts) => Asked>> = {
  adaptive({ effort, budget_tokens, display }, { quirks }) {
    const near = effort === undefined ? undefined : nearestEffort(effort, quirks.efforts ?? levels)
    const lost = unsupported('reasoning.budget_tokens', `This model takes no budget for its thoughts; effort "${near?.effort}" was used.`)
    return {
      thinking: { type: 'adaptive', ...display },
      ...(near?.effort !== undefined && { effort: near.effort }),
      warnings: [...(near?.warnings ?? []), ...(budget_tokens === undefined ? [] : [lost])],
    }
  },
  budget({ effort = 'medium', budget_tokens: named, display, room, cap }, { quirks, longest }) {
    const range = quirks.thinking_budget ?? { min: leastBudget, max: longest }
    const fitted = thinkingBudget({ effort, named, cap, room, range, longest: Number.isFinite(longest) ? longest : 2 * usual })
    if (!fitted) return { ...off, warnings: [cramped] }
    return {
      thinking: { type: 'enabled', budget_tokens: fitted.budget, ...display },
      max_tokens: fitted.most,
      warnings: remarks({ effort, budget_tokens: named }, fitted.budget),
    }
  },
  toggle: ({ effort, display }) => ({
    thinking: { type: 'enabled', ...display },
    warnings:
      effort === undefined
        ? []
        : [unsupported('reasoning.effort', `Reasoning effort "${effort}" is not available here; thinking was switched on.`)],
  }),
}

const leastBudget = 1024

const cramped = unsupported(
  'reasoning.effort',
  `\`max_output_tokens\` leaves no room for thoughts, which take ${leastBudget} tokens at least; thinking was switched off.`,
)

function remarks(
  { effort, budget_tokens }: { readonly effort: Effort; readonly budget_tokens: number | undefined },
  budget: number,
): readonly Warning[] {
  if (effort === 'none') return [unsupported('reasoning.effort', 'This model cannot stop thinking; the least was asked for.')]
  const clamped = `\`reasoning.budget_tokens\` was set to ${budget}, as the model and the length of the answer allow.`
  return budget_tokens === undefined || budget_tokens === budget ? [] : [unsupported('reasoning.budget_tokens', clamped)]
}
