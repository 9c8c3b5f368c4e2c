import type { Failure } from '@signalbox/dialects/protocol'
import type { Candidate } from '../routing/plan.ts'
import type { Logger } from '../runtime/ports.ts'
import { failurePolicies } from './failure-policy.ts'

/**
 * Logs a failure whose cause concerns the operator, and is not in the client's message: a refused credential, an account without
 * quota, a model or an address that is not found. The text is the provider's, redacted.
 */
export function logFailure(logger: Logger, { provider, offer, credential }: Candidate, failure: Failure): void {
  const { kind, status, code, hiddenText, message } = failure
  if (failurePolicies[kind].detail !== 'none') return
  logger.warn(
    {
      provider: provider.id,
      model: offer.model,
      kind,
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
      ...(!provider.answer && { path: pathOf({ provider, offer, credential }) }),
      ...(credential.owner === 'workspace' && { credential: credential.id }),
      text: hiddenText ?? message,
    },
    'A provider refused a call for a reason that only its operator can change.',
  )
}

/** The path that was called, without host and query. */
function pathOf({ provider, offer, credential }: Pick<Candidate, 'provider' | 'offer' | 'credential'>): string {
  const { api, model } = offer
  const url = provider.endpoint({ api, model, stream: false, credential })
  return URL.canParse(url) ? new URL(url).pathname : ''
}
