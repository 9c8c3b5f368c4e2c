import type { BodyDraft } from '../common/body-draft.ts'
import { thinkingBudget } from '../common/thinking-budget.ts'
import type { Offer, ThinkingStyle } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { isThinkingCompatible } from './compatibility.ts'
import { lacksThinkingBeforeCalls } from './items.ts'
import { originalBody } from './wire.ts'

// Encodes thinking and the output limit: `max_tokens` covers both thinking and response.

export interface EncodedThinking {
  /** Undefined for the model's default. */
  readonly thinking?: JsonObject | undefined
  readonly effort?: string | undefined
  readonly max_tokens: number
}

/** Output limit of requests that set none, if the model supports it. */
const defaultMaxTokens = 32_000

const disabled: JsonObject = { type: 'disabled' }
const defaultStyles: readonly ThinkingStyle[] = ['adaptive']
const defaultEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

export function encodeThinking(prompt: Prompt, { maxOutputTokens }: Offer, draft: BodyDraft): EncodedThinking {
  const { quirks } = draft
  const { reasoning, max_output_tokens: cap } = prompt
  /** The model's output limit, including thinking. */
  const longest = maxOutputTokens ?? quirks.thinkingBudget?.max ?? Number.POSITIVE_INFINITY
  const max_tokens = Math.min(cap ?? quirks.defaultMaxTokens ?? defaultMaxTokens, longest)
  if (cap !== undefined && cap > longest)
    draft.warn('max_output_tokens', `This model is limited to ${longest} output tokens; \`max_output_tokens\` was lowered to that.`)
  if (!reasoning) return { max_tokens }
  const original = originalBody(reasoning)
  if (original && isThinkingCompatible(original, quirks))
    return { thinking: isObject(original.thinking) ? original.thinking : undefined, max_tokens }
  const { effort, summary, budget_tokens } = reasoning
  const isShown = summary !== undefined && summary !== 'none'
  if (effort === undefined && budget_tokens === undefined && !isShown) {
    if (original) draft.warn('reasoning', 'This model does not support the requested type of thinking; the request was sent without it.')
    return { max_tokens }
  }
  if (effort === 'none' && quirks.thinkingOff !== 'never')
    return { thinking: quirks.thinking?.length === 0 ? undefined : disabled, max_tokens }
  const styles = (quirks.thinking ?? defaultStyles).filter(style => style !== 'level')
  const style = budget_tokens !== undefined && styles.includes('budget') ? 'budget' : styles[0]
  const display = displayOf(reasoning)
  if (style === 'budget') return { max_tokens, ...encodeBudget(prompt, max_tokens, longest, draft) }
  if (style === 'adaptive') {
    const near = effort && draft.nearestEffort(effort, quirks.efforts ?? defaultEfforts)
    if (budget_tokens !== undefined)
      draft.warn('reasoning.budget_tokens', `This model does not support a thinking budget; effort "${near}" was used.`)
    return { thinking: { type: 'adaptive', display }, effort: near, max_tokens }
  }
  if (style === 'toggle') {
    if (effort !== undefined)
      draft.warn('reasoning.effort', `Reasoning effort "${effort}" is not supported by this model; thinking was turned on.`)
    return { thinking: { type: 'enabled', display }, max_tokens }
  }
  draft.warn(effort ? 'reasoning.effort' : 'reasoning.summary', 'This model does not support thinking; the request was sent without it.')
  return { max_tokens }
}

/** How thinking is shown. Undefined if the client does not say. */
const displayOf = ({ summary }: NonNullable<Prompt['reasoning']>): string | undefined =>
  summary === undefined ? undefined : summary === 'none' ? 'omitted' : 'summarized'

const minBudget = 1024

/** Thinking with a budget of tokens. `room`: tokens for thinking and response, or for the response alone if the client set no limit. */
function encodeBudget(
  { reasoning = {}, input, max_output_tokens }: Prompt,
  room: number,
  maxTokens: number,
  draft: BodyDraft,
): Partial<EncodedThinking> {
  if (lacksThinkingBeforeCalls(input)) {
    draft.warn('reasoning.effort', 'The latest tool calls lack the thinking blocks that this model requires; thinking was turned off.')
    return { thinking: disabled }
  }
  const { effort = 'medium', budget_tokens: named } = reasoning
  const range = draft.quirks.thinkingBudget ?? { min: minBudget, max: maxTokens }
  const longest = Number.isFinite(maxTokens) ? maxTokens : 2 * defaultMaxTokens
  const fitted = thinkingBudget({ effort, named, cap: max_output_tokens === undefined ? undefined : room, room, range, longest })
  if (!fitted) {
    draft.warn(
      'reasoning.effort',
      `\`max_output_tokens\` is too small for thinking, which needs at least ${minBudget} tokens; thinking was turned off.`,
    )
    return { thinking: disabled }
  }
  if (effort === 'none') draft.warn('reasoning.effort', 'This model cannot turn thinking off; the lowest effort was used.')
  else if (named !== undefined && named !== fitted.budget)
    draft.warn(
      'reasoning.budget_tokens',
      `\`reasoning.budget_tokens\` was set to ${fitted.budget}, the nearest value that the model and \`max_output_tokens\` allow.`,
    )
  return { thinking: { type: 'enabled', budget_tokens: fitted.budget, display: displayOf(reasoning) }, max_tokens: fitted.most }
}
