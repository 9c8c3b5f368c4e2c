import type { Quirks, ThinkingStyle } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'

// Converts reasoning controls of models.dev to quirks. Core has more precise facts about Claude (by model) and Gemini (by dialect).

/** `reasoning_options` of models.dev. Budgets are ignored, because core has rows for the providers that accept them. */
export const reasoningOptions = z.array(z.object({ type: z.string(), values: z.array(z.string().nullable()).optional() }))

/** Efforts in ascending order. */
const ladder = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** What an entry says about reasoning. */
export interface ReasoningFacts {
  readonly provider: string
  readonly author: string
  readonly dialect: string
  readonly reasons: boolean
  readonly options?: z.infer<typeof reasoningOptions> | undefined
  /** Whether `temperature`, `top_p` and `top_k` are accepted. */
  readonly sampled: boolean
}

/** Quirks for how a model's thinking is configured, and whether it accepts sampling parameters. */
export function reasoningQuirks(facts: ReasoningFacts): Quirks {
  const { provider, author, dialect, reasons, options = [], sampled } = facts
  if (author === 'anthropic' || dialect === 'gemini') return {}
  if (!reasons) return { efforts: [] }
  const named = new Set(options.filter(({ type }) => type === 'effort').flatMap(({ values = [] }) => values))
  const listed = ladder.filter(effort => named.has(effort))
  // `default` is not a level: a list with only that and `none` is a switch.
  const isSwitch = named.has('default') && listed.every(effort => effort === 'none')
  const efforts = isSwitch ? [] : listed
  const hasToggle = isSwitch || options.some(({ type }) => type === 'toggle')
  const canStop = hasToggle || efforts.includes('none')
  const onBedrock = provider === 'amazon-bedrock'
  return {
    ...(onBedrock ? bedrockEfforts(efforts, hasToggle) : thinkingStyles(efforts, { hasToggle, dialect })),
    ...(!sampled && !(onBedrock && author === 'openai') && { sampling: canStop ? 'unless_thinking' : 'none' }),
  }
}

function thinkingStyles(
  efforts: readonly string[],
  { hasToggle, dialect }: { readonly hasToggle: boolean; readonly dialect: string },
): Quirks {
  const level: readonly ThinkingStyle[] = efforts.length > 0 ? ['level'] : []
  const styles: readonly ThinkingStyle[] = hasToggle ? [...level, 'toggle'] : level
  return { ...(efforts.length > 0 && { efforts }), ...(dialect === 'chat' && styles.length > 0 && { thinking: styles }) }
}

/** A switch becomes an additional level. */
function bedrockEfforts(efforts: readonly string[], hasToggle: boolean): Quirks {
  if (efforts.length === 0) return {}
  return { efforts: hasToggle && !efforts.includes('none') ? ['none', ...efforts] : efforts }
}
