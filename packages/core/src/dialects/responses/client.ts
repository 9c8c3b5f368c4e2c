import type { ClientDialect } from '../../protocol/dialect.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeEvents } from './encode-stream.ts'
import { encodeError } from './errors.ts'
import { dialect } from './wire.ts'

export const responsesClient: ClientDialect = { name: dialect, decodeRequest, encodeResponse, encodeEvents, encodeError }
