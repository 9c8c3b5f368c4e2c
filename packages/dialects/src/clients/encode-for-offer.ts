import { withoutForeignRecords } from '../common/earlier-answers.ts'
import { withoutStoredRecords } from '../common/stored-records.ts'
import type { EncodedRequest, ProviderDialect } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { unknownFieldWarnings } from './unknown-fields.ts'

interface EncodingTarget {
  readonly offer: Offer
  readonly quirks: Quirks
  /** Whether the credential may open what is stored at the provider. Default: false. */
  readonly mayOpenStored?: boolean
}

/** Encodes a request for one offer, with a warning for everything that is lost. */
export function encodeForOffer(
  dialect: ProviderDialect,
  request: InferenceRequest,
  { offer, quirks, mayOpenStored = false }: EncodingTarget,
): EncodedRequest {
  const known = hasUnknownRecords(request) ? withoutStoredRecords(request, mayOpenStored) : undefined
  const sent = withoutForeignRecords(known?.request ?? request, dialect.name)
  const encoded = dialect.encodeRequest(sent.request, offer, quirks)
  const lost = [...(known?.warnings ?? []), ...sent.warnings, ...unknownFieldWarnings(sent.request.prompt, dialect.name)]
  const warnings = lost.length === 0 ? encoded.warnings : [...encoded.warnings, ...lost]
  return { ...encoded, body: inOrder(encoded.body, dialect), warnings }
}

function hasUnknownRecords({ prompt }: InferenceRequest): boolean {
  for (const item of prompt.input) if (item.type === 'native' && item.unknownOrigin !== undefined) return true
  return false
}

/** Orders the body: constant fields, then the conversation, then fields that differ with every request, so that prompt caches match. */
function inOrder(body: JsonObject, { conversationField: field, requestFields = noRequestFields }: ProviderDialect): JsonObject {
  if (field === undefined || !Object.hasOwn(body, field)) return body
  const { [field]: last, ...rest }: Record<string, Json | undefined> = body
  if (!requestFields.some(name => Object.hasOwn(body, name))) {
    rest[field] = last
    return rest
  }
  const [late, early] = [true, false].map(isLate => Object.entries(rest).filter(([name]) => requestFields.includes(name) === isLate))
  return Object.fromEntries([...(early ?? []), [field, last], ...(late ?? [])])
}

const noRequestFields: readonly string[] = []
