import { GatewayError } from '../../errors/gateway-error.ts'
import type { ClientDialect, Stamp } from '../../protocol/dialect.ts'
import type { ErrorBody } from '../../protocol/error-body.ts'
import type { Item } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { InferenceResponse } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { flag, optional } from '../field-readers.ts'
import { readRouting } from '../routing-options.ts'
import { itemIds } from './item-ids.ts'
import { originalBody, writeItem } from './items.ts'
import { checkEnvelope, readPrompt } from './request.ts'
import { ending } from './snapshot.ts'
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

function encodeResponse(response: InferenceResponse, request: InferenceRequest, stamp: Stamp): JsonObject {
  const idOf = itemIds(stamp)
  const items = response.output.filter(isOurs)
  const cut = response.outcome.status === 'completed' ? undefined : items.length - 1
  const output = items.map((item, at) => writeItem(at === cut ? cutShort(item) : item, idOf(item)))
  return ending({ request, stamp, original: originalBody(response) }, { outcome: response.outcome, usage: response.usage, output })
}

/** What another language alone can say has no place in an answer of this one. */
const isOurs = (item: Item): boolean => item.type !== 'native' || item.dialect === dialect

/** The last item of an answer that did not reach its end, where nothing else says so. */
const cutShort = (item: Item): Item =>
  (item.type === 'message' || item.type === 'function_call') && item.status === undefined ? { ...item, status: 'incomplete' } : item

const encodeError = ({ message, type, param, code, suggestion, doc_url, provider, attempts }: ErrorBody): JsonObject => ({
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
})

export const responsesClient: ClientDialect = { name: dialect, decodeRequest, encodeResponse, encodeEvents, encodeError }
