import { unknownFieldWarnings } from '../dialects/unknown-fields.ts'
import type { EncodedRequest, ProviderDialect } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'

/** What one offer is sent, and everything that is lost on the way to it. */
export function encodeForOffer(
  dialect: ProviderDialect,
  request: InferenceRequest,
  { offer, quirks }: { readonly offer: Offer; readonly quirks: Quirks },
): EncodedRequest {
  const encoded = dialect.encodeRequest(request, offer, quirks)
  const lost = unknownFieldWarnings(request.prompt, dialect.name)
  return lost.length === 0 ? encoded : { ...encoded, warnings: [...encoded.warnings, ...lost] }
}
