import { GatewayError } from '../../errors/gateway-error.ts'
import type { ClientDialect } from '../../protocol/dialect.ts'
import type { ErrorBody } from '../../protocol/error-body.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { flag, optional } from '../field-readers.ts'
import { readRouting } from '../routing-options.ts'
import { checkEnvelope, readPrompt } from './request.ts'
import { encodeResponse } from './snapshot.ts'
import { renameError } from './spelling.ts'
import { encodeEvents } from './stream-out.ts'
import { dialect } from './wire.ts'

function decodeRequest(body: JsonObject): InferenceRequest {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be a JSON object.', param: 'body' })
  checkEnvelope(body)
  const { routing, metadata } = readRouting(body)
  const request: InferenceRequest = {
    prompt: readPrompt(body),
    routing,
    delivery: optional({ body, path: '' }, 'stream', flag) ? 'stream' : 'whole',
    ...(metadata && { metadata }),
  }
  return remember(request, { dialect, body })
}

function encodeError(error: ErrorBody): JsonObject {
  const { type, code, suggestion, doc_url, provider, attempts } = error
  const { message, param } = renameError(error)
  return {
    error: {
      message,
      type,
      param,
      code,
      ...(suggestion !== undefined && { suggestion }),
      ...(doc_url !== undefined && { doc_url }),
      ...(provider !== undefined && { provider }),
      ...(attempts && { attempts: attempts.map(attempt => ({ ...attempt })) }),
    },
  }
}

export const chatClient: ClientDialect = { name: dialect, decodeRequest, encodeResponse, encodeEvents, encodeError }
