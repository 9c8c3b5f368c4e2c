import { GatewayError } from '../../errors/gateway-error.ts'
import type { ClientDialect, Stamp } from '../../protocol/dialect.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { InferenceResponse } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { flag, optional } from '../field-readers.ts'
import { requestIdOf } from '../ids.ts'
import { readRouting } from '../routing-options.ts'
import { encodeError, writeFailure } from './errors.ts'
import { checkVersion, readHeaders, readPrompt } from './decode-request.ts'
import { blocksOf, headOf, isRefusal, stampOn, stopOf, writeUsage } from './encode-response.ts'
import { encodeEvents } from './encode-stream.ts'
import { dialect, originalBody } from './wire.ts'

type Header = (name: string) => string | undefined
const noHeader: Header = () => undefined

function decode(body: JsonObject, header: Header, counting: boolean): InferenceRequest {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be a JSON object.', param: 'body' })
  const { routing, metadata } = readRouting(body)
  const request: InferenceRequest = {
    prompt: readPrompt(body, counting),
    routing,
    delivery: !counting && optional({ body, path: '' }, 'stream', flag) ? 'stream' : 'whole',
    ...readHeaders(header),
    ...(metadata && { metadata }),
  }
  checkVersion(body, request)
  return remember(request, { dialect, body })
}

function encodeResponse(response: InferenceResponse, request: InferenceRequest, stamp: Stamp): JsonObject {
  const { output, outcome, usage } = response
  if (outcome.status === 'failed') return writeFailure(outcome.error, request, requestIdOf(stamp))
  const original = originalBody(response)
  const said = { refused: output.some(isRefusal), called: output.some(({ type }) => type === 'function_call') }
  return {
    ...headOf(stamp, original),
    content: output.flatMap(blocksOf),
    ...stopOf(outcome, said, original),
    usage: writeUsage(usage, original),
    ...stampOn(stamp, request),
  }
}

export const messagesClient: ClientDialect = {
  name: dialect,
  decodeRequest: (body, header = noHeader) => decode(body, header, false),
  decodeCounting: (body, header = noHeader) => decode(body, header, true),
  encodeResponse,
  encodeEvents,
  encodeError,
  keepAlive: { event: 'ping', data: '{"type":"ping"}' },
}
