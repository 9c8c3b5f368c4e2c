import type { ClientDialect } from '@signalbox/dialects/protocol'
import { decodeRequest } from './decode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeEvents } from './encode-stream.ts'
import { encodeError } from './errors.ts'
import { dialect } from './wire.ts'

/**
 * The protocol of `@ai-sdk/gateway`: the AI SDK's language model specification over HTTP. It is not in core, which travels to edge
 * runtimes with every deploy. In process the same parts are handed on as objects, so the decoder also reads bytes, `URL`s and undefined
 * fields. Sealed reasoning travels in `providerMetadata.gateway`, which the AI SDK sends back as provider options.
 */
export const aiSdkClient: ClientDialect = { name: dialect, decodeRequest, encodeResponse, encodeEvents, encodeError }
