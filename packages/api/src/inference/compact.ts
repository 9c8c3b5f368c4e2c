import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import type { Caller } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import { warningHeaders } from '../headers.ts'
import { json } from '../json-reply.ts'
import { logOutcome } from '../request-log.ts'
import type { Call } from '../route.ts'
import { dialectNamed } from './infer.ts'

/**
 * The handler of `/v1/responses/compact`. It replaces the conversation by its user messages, unchanged, and one compaction item that stands
 * for the rest.
 */
export async function compactResponses(call: Call, caller: Caller): Promise<ApiReply> {
  const { gateway, site, request, requestId, log, body, admission, claimMemory, context } = call
  const dialect = dialectNamed('responses', site)
  const { stream: _, ...sent } = body
  const inferenceRequest = dialect.decodeRequest(sent, request.header)
  log.note({ model: inferenceRequest.routing.models[0] })
  const { item, response, metadata } = await gateway.compact(inferenceRequest, {
    caller,
    requestId,
    signal: request.signal,
    header: request.header,
    admission,
    claimMemory,
    waitUntil: context?.waitUntil,
  })
  logOutcome(log, metadata, response)
  // Usage, cost and warnings are the same as in other responses of this dialect.
  const { id, created_at, model, usage, routing_metadata, warnings } = dialect.encodeResponse(response, inferenceRequest, metadata)
  const compaction: JsonObject = {
    id,
    object: 'response.compaction',
    created_at,
    model,
    output: [...userMessages(body.input, metadata.itemId), item],
    usage,
    routing_metadata,
    warnings,
  }
  return json(compaction, { headers: warningHeaders(metadata.warnings) })
}

/** The user messages, with the fields of response items. */
function userMessages(input: Json | undefined, itemId: (prefix: string) => string): readonly JsonObject[] {
  const items = Array.isArray(input) ? input.filter(isObject) : [{ role: 'user', content: input }]
  return items
    .filter(({ type, role }) => role === 'user' && (type === undefined || type === 'message'))
    .map(({ content, ...message }) => ({
      id: itemId('msg'),
      status: 'completed',
      ...message,
      type: 'message',
      content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
    }))
}
