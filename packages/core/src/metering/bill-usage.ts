import type { UsageResult } from '@signalbox/storage'
import type { Failure } from '../protocol/failure.ts'
import type { Price } from '../protocol/model.ts'
import type { Usage } from '../protocol/response.ts'
import { tokensOfText } from './estimate.ts'
import type { MeteredAnswer } from './meter.ts'
import { costOf, type Microdollars, saneUsage } from './money.ts'

const zeroUsage: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

/** What was used by our own count, where the provider did not say. */
export interface EstimatedTokens {
  readonly input: number
  /** Default: by the text that was seen. */
  readonly output?: number | undefined
  /** Counts of the provider's that hold for the input. */
  readonly read?: Usage | undefined
}

/**
 * What is billed: the provider's figures, else ours, flagged. Nothing that a failed attempt used ever counts, and an answer
 * without a word costs nothing, whatever its provider took for reading the question.
 */
export function billUsage(
  seen: Pick<MeteredAnswer, 'usage' | 'characters' | 'tokens' | 'hostedCalls' | 'hasNative' | 'outcome'>,
  price: Price | undefined,
  { input, read, output = Math.ceil(seen.tokens ?? tokensOfText(seen.characters)) }: EstimatedTokens,
): { readonly usage: Usage; readonly cost: Microdollars } {
  const told = seen.usage ? saneUsage(seen.usage) : undefined
  const hosted_calls = seen.hostedCalls
  const usage = told ?? {
    ...(read ?? { ...zeroUsage, input_tokens: input }),
    output_tokens: output,
    reasoning_tokens: Math.min(output, read?.reasoning_tokens ?? 0),
    ...(hosted_calls && { hosted_calls }),
    estimated: true,
  }
  return { usage, cost: price && !isWordless(seen) ? costOf(price, usage) : 0 }
}

/** Whether an answer has nothing in it. Pictures and calls such as a patch have no characters, and some providers count no tokens for them. */
const isWordless = ({
  usage,
  characters,
  hasNative,
  outcome,
}: Pick<MeteredAnswer, 'usage' | 'characters' | 'hasNative' | 'outcome'>): boolean =>
  outcome?.status === 'completed' && characters === 0 && !hasNative && usage?.output_tokens === 0

export const zeroBill = { usage: zeroUsage, cost: 0 } as const

/** How a request that committed ended, as the usage row names it. */
export function resultOf(seen: MeteredAnswer, left: boolean): { readonly result: UsageResult; readonly code?: string } {
  if (seen.leftAt !== undefined) return { result: 'abandoned', code: 'client_disconnected' }
  if (seen.outcome?.status === 'completed') return { result: 'ok' }
  if (seen.outcome?.status === 'incomplete') return { result: 'incomplete' }
  if (left || !seen.outcome) return { result: 'abandoned', code: 'client_disconnected' }
  return { result: 'error', code: codeOf(seen.outcome.error) }
}

const codeOf = (failure: Failure): string => failure.code ?? 'provider_error'
