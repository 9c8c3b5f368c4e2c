import { allTools, isHosted } from '@signalbox/dialects/common'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import type { SelectedOffer } from '../../upstream/call.ts'

/** Whether a request may be hedged: streams with fallbacks, and without hosted tools, which must not run twice. */
export const hedges = ({ hedge }: { readonly hedge: boolean }, { delivery, prompt, routing }: InferenceRequest): boolean =>
  (routing.hedge ?? hedge) &&
  delivery === 'stream' &&
  routing.allow_fallbacks &&
  prompt.tools?.some(({ type }) => type === 'native') !== true &&
  !allTools(prompt).some(isHosted)

/** Whether an offer may be the second call of a hedge: it needs no wait and is within the operator's cost limit. */
export const affordsBeside = (
  { maxHedgeCost }: { readonly maxHedgeCost: number },
  { choice: { estimate, waitMs } }: SelectedOffer,
): boolean => waitMs <= 0 && estimate.cost <= maxHedgeCost
