import { errorObject as encodeError } from '../common/error-object.ts'
import type { ClientDialect } from '../protocol/dialect.ts'
import { decodeInputItem } from './decode-items.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeEvents } from './encode-stream.ts'
import { knownFields } from './known-fields.ts'
import { outputFidelity } from './output-fidelity.ts'
import { dialect } from './wire.ts'

/** The Responses API, as clients call it. */
export const responsesClient: ClientDialect = {
  name: dialect,
  decodeRequest,
  encodeResponse,
  encodeEvents,
  encodeError,
  decodeItem: decodeInputItem,
  knownFields,
  outputFidelity,
}
