import type { ClientDialect } from '../protocol/dialect.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeEvents } from './encode-stream.ts'
import { encodeError } from './errors.ts'
import { knownFields } from './known-fields.ts'
import { outputFidelity } from './output-fidelity.ts'
import { dialect } from './wire.ts'

/** The Chat Completions API, as clients call it. */
export const chatClient: ClientDialect = {
  name: dialect,
  decodeRequest,
  encodeResponse,
  encodeEvents,
  encodeError,
  knownFields,
  outputFidelity,
}
