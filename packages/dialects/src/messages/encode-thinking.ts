import { nearestEffort, unsupported } from '../common/apply-quirks.ts'
import { thinkingBudget } from '../common/thinking-budget.ts'
import type { Offer, Quirks, ThinkingStyle } from '../protocol/model.ts'
import type { Effort, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { isThinkingCompatible } from './compatibility.ts'
import { lacksThinkingBeforeCalls } from './items.ts'
import { originalBody } from './wire.ts'

// Encodes thinking and the output limit: `max_tokens` covers both thinking and response.

export interface EncodedThinking {
  /** Undefined for the model's default. */
  readonly thinking?: JsonObject
  readonly effort?: string
  readonly max_tokens: number
  readonly warnings: readonly Warning[]
}

interface ModelLimits {
  readonly quirks: Quirks
  /** The model's output limit, including thinking. */
  readonly maxTokens: number
}

/** Output limit of requests that set none, if the model supports it. */
const defaultMaxTokens = 32_000

export function encodeThinking(prompt: Prompt, { maxOutputTokens }: Offer, quirks: Quirks): EncodedThinking {
  const limits: ModelLimits = { quirks, maxTokens: maxOutputTokens ?? quirks.thinkingBudget?.max ?? Number.POSITIVE_INFINITY }
  const requested = prompt.max_output_tokens
  const room = Math.min(requested ?? quirks.defaultMaxTokens ?? defaultMaxTokens, limits.maxTokens)
  const { max_tokens = room, warnings = [], ...thinking } = thinkingFields(prompt, room, limits)
  const isLowered = requested !== undefined && requested > limits.maxTokens
  const lowered = unsupported(
    'max_output_tokens',
    `This model is limited to ${limits.maxTokens} output tokens; \`max_output_tokens\` was lowered to that.`,
  )
  return { ...thinking, max_tokens, warnings: isLowered ? [lowered, ...warnings] : warnings }
}

type ThinkingFields = Partial<EncodedThinking>

function thinkingFields({ reasoning, input, max_output_tokens }: Prompt, room: number, limits: ModelLimits): ThinkingFields {
  if (!reasoning) return {}
  const original = originalBody(reasoning)
  if (original && isThinkingCompatible(original, limits.quirks))
    return { ...(isObject(original.thinking) && { thinking: original.thinking }) }
  const { effort, summary, budget_tokens } = reasoning
  const isShown = summary !== undefined && summary !== 'none'
  if (effort === undefined && budget_tokens === undefined && !isShown) return original ? { warnings: [unknownType] } : {}
  const { quirks } = limits
  if (effort === 'none' && quirks.thinkingOff !== 'never') return quirks.thinking?.length === 0 ? {} : disabled
  const style = styleOf(quirks, budget_tokens)
  if (!style) {
    const param = effort ? 'reasoning.effort' : 'reasoning.summary'
    return { warnings: [unsupported(param, 'This model does not support thinking; the request was sent without it.')] }
  }
  const display = summary === undefined ? {} : { display: isShown ? 'summarized' : 'omitted' }
  if (style === 'budget' && lacksThinkingBeforeCalls(input)) return { ...disabled, warnings: [reasoningMissing] }
  return encoders[style]({ ...reasoning, display, room, requestedMaxTokens: max_output_tokens === undefined ? undefined : room }, limits)
}

const disabled: ThinkingFields = { thinking: { type: 'disabled' } }

const unknownType = unsupported('reasoning', 'This model does not support the requested type of thinking; the request was sent without it.')

const reasoningMissing = unsupported(
  'reasoning.effort',
  'The latest tool calls lack the thinking blocks that this model requires; thinking was turned off.',
)

const defaultStyles: readonly ThinkingStyle[] = ['adaptive']

/** Returns the model's first style, or `budget` if the request sets a budget and the model supports it. */
function styleOf({ thinking = defaultStyles }: Quirks, budget: number | undefined): Style | undefined {
  const styles = thinking.filter(style => style !== 'level')
  return budget !== undefined && styles.includes('budget') ? 'budget' : styles[0]
}

type Style = Exclude<ThinkingStyle, 'level'>

interface ThinkingRequest {
  readonly effort?: Effort
  readonly budget_tokens?: number
  readonly display: JsonObject
  /** Tokens for the response itself. */
  readonly room: number
  /** Tokens for thinking and response, if the client set a limit. */
  readonly requestedMaxTokens: number | undefined
}

const defaultEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

const encoders: Readonly<Record<Style, (request: ThinkingRequest, limits: ModelLimits) => ThinkingFields>> = {
  adaptive({ effort, budget_tokens, display }, { quirks }) {
    const near = effort === undefined ? undefined : nearestEffort(effort, quirks.efforts ?? defaultEfforts)
    const noBudget = unsupported(
      'reasoning.budget_tokens',
      `This model does not support a thinking budget; effort "${near?.effort}" was used.`,
    )
    return {
      thinking: { type: 'adaptive', ...display },
      ...(near?.effort !== undefined && { effort: near.effort }),
      warnings: [...(near?.warnings ?? []), ...(budget_tokens === undefined ? [] : [noBudget])],
    }
  },
  budget({ effort = 'medium', budget_tokens: named, display, room, requestedMaxTokens: cap }, { quirks, maxTokens }) {
    const range = quirks.thinkingBudget ?? { min: minBudget, max: maxTokens }
    const longest = Number.isFinite(maxTokens) ? maxTokens : 2 * defaultMaxTokens
    const fitted = thinkingBudget({ effort, named, cap, room, range, longest })
    if (!fitted) return { ...disabled, warnings: [noRoom] }
    return {
      thinking: { type: 'enabled', budget_tokens: fitted.budget, ...display },
      max_tokens: fitted.most,
      warnings: budgetWarnings({ effort, budget_tokens: named }, fitted.budget),
    }
  },
  toggle: ({ effort, display }) => ({
    thinking: { type: 'enabled', ...display },
    warnings:
      effort === undefined
        ? []
        : [unsupported('reasoning.effort', `Reasoning effort "${effort}" is not supported by this model; thinking was turned on.`)],
  }),
}

const minBudget = 1024

const noRoom = unsupported(
  'reasoning.effort',
  `\`max_output_tokens\` is too small for thinking, which needs at least ${minBudget} tokens; thinking was turned off.`,
)

function budgetWarnings(
  { effort, budget_tokens }: { readonly effort: Effort; readonly budget_tokens: number | undefined },
  budget: number,
): readonly Warning[] {
  if (effort === 'none') return [unsupported('reasoning.effort', 'This model cannot turn thinking off; the lowest effort was used.')]
  const clamped = `\`reasoning.budget_tokens\` was set to ${budget}, the nearest value that the model and \`max_output_tokens\` allow.`
  return budget_tokens === undefined || budget_tokens === budget ? [] : [unsupported('reasoning.budget_tokens', clamped)]
}
