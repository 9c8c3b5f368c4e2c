import type { ProviderDialect } from '../../protocol/dialect.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeFailure } from './errors.ts'
import { dialect } from './wire.ts'

export const responsesProvider: ProviderDialect = { name: dialect, encodeRequest, decodeResponse, decodeEvents, decodeFailure }
