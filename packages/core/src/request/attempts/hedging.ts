import type { InferenceRequest } from '../../protocol/request.ts'
import type { SelectedOffer } from '../../upstream/call.ts'

/** A second answer is worth its money where somebody waits for the first word, and nothing happens that must not happen twice. */
export const hedges = ({ hedge }: { readonly hedge: boolean }, { delivery, prompt: { tools }, routing }: InferenceRequest): boolean =>
  (routing.hedge ?? hedge) && delivery === 'stream' && routing.allow_fallbacks && tools?.some(({ type }) => type === 'native') !== true

/** This one may be asked as the second of two: it costs no more than the operator allows. */
export const affordsBeside = ({ hedgeMaxCost }: { readonly hedgeMaxCost: number }, { choice: { sight, waitMs } }: SelectedOffer): boolean =>
  waitMs <= 0 && sight.cost <= hedgeMaxCost
