import { responsesClient } from '../../src/dialects/index.ts'
import type { Offer } from '../../src/protocol/model.ts'
import type { Provider } from '../../src/protocol/provider.ts'
import type { InferenceRequest } from '../../src/protocol/request.ts'
import type { JsonObject } from '../../src/protocol/wire.ts'
import { needsOf, type Question } from '../../src/routing/needs.ts'
import type { Candidate } from '../../src/routing/plan.ts'

// Requests and those who may serve them, as routing sees them.

export const price = { input: 1_000_000, output: 1_000_000 }

/** Somebody of whom nothing is known but a price. */
export const candidateOf = (offer: Partial<Offer>, provider: Partial<Provider> = {}): Candidate => {
  const sold: Offer = { provider: 'p', provider_model_id: 'm', dialect: 'chat', price, ...offer }
  return {
    model: { id: 'm', offers: [sold] },
    offer: sold,
    provider: { id: sold.provider, dialects: [], endpoint: () => '', authorize: () => {}, ...provider },
    credential: { id: 'c', owner: 'platform', secret: '' },
  }
}

/** As a caller of POST /v1/responses says it. */
export const asking = (fields: JsonObject): InferenceRequest => responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields })

export const questionOf = (request: InferenceRequest, more: Partial<Question> & { readonly inputTokens?: number } = {}): Question => ({
  needs: needsOf(request, more.inputTokens ?? 1),
  routing: request.routing,
  demands: {},
  readsMedia: false,
  responsesOnly: new Set(),
  ...more,
})
