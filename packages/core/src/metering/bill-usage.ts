import type { HostedCalls, Price, Usage } from '@signalbox/dialects/protocol'
import type { UsageResult } from '@signalbox/storage'
import { tokensOfText } from './estimate.ts'
import type { MeteredAnswer } from './meter.ts'
import { costOf, type Microdollars, saneUsage } from './money.ts'

const zeroUsage: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

/** Our own token counts, used if the provider reports no usage. */
export interface EstimatedTokens {
  readonly input: number
  /** Default: counted from the text received. */
  readonly output?: number | undefined
  /** Usage reported by the provider before the response ended; its input counts apply. */
  readonly read?: Usage | undefined
}

/**
 * The billed usage: the provider's, or our estimate, marked `estimated`. Failed attempts cost nothing, and neither does an empty
 * response.
 */
export function billUsage(
  seen: Pick<MeteredAnswer, 'usage' | 'characters' | 'tokens' | 'hasNative' | 'outcome'> & {
    readonly hostedCalls?: HostedCalls | undefined
  },
  price: Price | undefined,
  { input, read, output = Math.ceil(seen.tokens ?? tokensOfText(seen.characters)) }: EstimatedTokens,
): { readonly usage: Usage; readonly cost: Microdollars } {
  const reported = seen.usage ? saneUsage(seen.usage) : undefined
  const hosted_calls = seen.hostedCalls
  const usage = reported ?? {
    ...(read ?? { ...zeroUsage, input_tokens: input }),
    output_tokens: output,
    reasoning_tokens: Math.min(output, read?.reasoning_tokens ?? 0),
    ...(hosted_calls && { hosted_calls }),
    estimated: true,
  }
  return { usage, cost: price && !isWordless(seen) ? costOf(price, usage) : 0 }
}

/** Whether a response is empty. Images and calls such as a patch have no characters, and some providers count no tokens for them. */
const isWordless = ({
  usage,
  characters,
  hasNative,
  outcome,
}: Pick<MeteredAnswer, 'usage' | 'characters' | 'hasNative' | 'outcome'>): boolean =>
  outcome?.status === 'completed' && characters === 0 && !hasNative && usage?.output_tokens === 0

export const zeroBill = { usage: zeroUsage, cost: 0 } as const

/** The result of a committed request, as recorded in its usage row. */
export function resultOf(seen: MeteredAnswer, left: boolean): { readonly result: UsageResult; readonly code?: string } {
  if (seen.errorCode !== undefined) return { result: 'error', code: seen.errorCode }
  if (seen.leftAt !== undefined) return { result: 'abandoned', code: 'client_disconnected' }
  if (seen.outcome?.status === 'completed') return { result: 'ok' }
  if (seen.outcome?.status === 'incomplete') return { result: 'incomplete' }
  if (left || !seen.outcome) return { result: 'abandoned', code: 'client_disconnected' }
  return { result: 'error', code: seen.outcome.error.code ?? 'provider_error' }
}
