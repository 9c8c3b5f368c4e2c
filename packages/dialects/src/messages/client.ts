import type { ClientDialect } from '../protocol/dialect.ts'
import { decodeCounting, decodeRequest } from './decode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeEvents } from './encode-stream.ts'
import { encodeError } from './errors.ts'
import { knownFields } from './known-fields.ts'
import { outputFidelity } from './output-fidelity.ts'
import { dialect } from './wire.ts'

/** The Messages API, as clients call it. */
export const messagesClient: ClientDialect = {
  name: dialect,
  decodeRequest,
  decodeCounting,
  encodeResponse,
  encodeEvents,
  encodeError,
  knownFields,
  outputFidelity,
  keepAlive: { event: 'ping', data: '{"type":"ping"}' },
}
