import type { ClientDialect, InferenceRequest, JsonObject, ResponseMetadata, Usage } from '@signalbox/dialects/protocol'
import type { Caller, CallOptions } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import { warningHeaders } from '../headers.ts'
import { json } from '../json-reply.ts'
import { logOutcome } from '../request-log.ts'
import type { Call } from '../route.ts'
import { type DialectReply, streamed } from '../stream.ts'
import type { WebSocketTurn } from '../websocket/port.ts'

/** Creates the handler of an inference row in the dialect `name`: body → request → response. */
export const inferenceHandler =
  (name: string) =>
  (call: Call, caller: Caller): Promise<ApiReply> => {
    const { gateway, site, request, requestId, log, body, isLarge, admission, claimMemory, context } = call
    const dialect = dialectNamed(name, site)
    const { turn } = request
    const inferenceRequest = dialect.decodeRequest(turn ? turn.bodyOf(body) : body, request.header)
    log.note({ model: inferenceRequest.routing.models[0] })
    if (turn?.isWarmUp()) return warmUp(call, caller, { dialect, inferenceRequest, turn })
    const options = {
      caller,
      requestId,
      signal: request.signal,
      header: request.header,
      isLarge,
      admission,
      claimMemory,
      waitUntil: context?.waitUntil,
    }
    const last = inferenceRequest.prompt.input.at(-1)
    const isTrigger = last?.type === 'native' && last.body.type === 'compaction_trigger'
    if (isTrigger) return compacted(call, { dialect, inferenceRequest, options })
    if (inferenceRequest.delivery === 'stream')
      return streamed(call, { dialect, inferenceRequest, reply: gateway.infer(inferenceRequest, options) })
    let encoded: JsonObject | undefined
    const encode: CallOptions['encode'] = (response, metadata) => {
      encoded = dialect.encodeResponse(response, inferenceRequest, metadata)
    }
    const reply = gateway.infer(inferenceRequest, { ...options, encode })
    return wholeReply(call, { dialect, inferenceRequest, reply }, () => encoded)
  }

interface WarmUp {
  readonly dialect: ClientDialect
  readonly inferenceRequest: InferenceRequest
  readonly turn: WebSocketTurn
}

const nothingUsed: Usage = { input_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 }

/**
 * Replies to `generate: false` of a WebSocket client with a response without output, from which the next turn may continue. The request is
 * validated and rate limited like any other, but calls no provider and costs nothing. Earlier turns are validated with the turn that is generated.
 */
async function warmUp(
  { gateway, requestId, admission: early, claimMemory }: Call,
  caller: Caller,
  { dialect, inferenceRequest, turn }: WarmUp,
): Promise<ApiReply> {
  const admission = early ?? (await gateway.admitEarly(caller, requestId))
  // Unknown models and unsatisfiable constraints are refused now. Without input there is nothing to route yet.
  try {
    if (inferenceRequest.prompt.input.length > 0) await gateway.plan(inferenceRequest, caller, { claimMemory })
  } finally {
    await admission.leave()
  }
  const at = Math.floor(gateway.clock.now() / 1000)
  const metadata: ResponseMetadata = {
    id: `resp_${requestId.replaceAll('-', '')}`,
    model: inferenceRequest.routing.models[0],
    created_at: at,
    completed_at: at,
    itemId: prefix => `${prefix}_${requestId.replaceAll('-', '')}`,
    warnings: [],
  }
  const frames = dialect
    .encodeEvents(inferenceRequest, () => metadata)
    .write([
      { type: 'started', id: metadata.id, model: metadata.model, created_at: at },
      { type: 'finished', outcome: { status: 'completed' }, usage: nothingUsed },
    ])
  return { status: 200, headers: {}, body: turn.linesOf(frames) }
}

interface CompactionOptions extends Omit<DialectReply, 'reply'> {
  readonly options: CallOptions & { readonly requestId: string }
}

/** Loaded on first use, because few clients use this form of compaction. */
async function compacted(call: Call, { dialect, inferenceRequest, options }: CompactionOptions): Promise<ApiReply> {
  const { compactionReply } = await import('../lazy-imports.ts')
  const reply = compactionReply(call.gateway, inferenceRequest, options)
  return inferenceRequest.delivery === 'stream'
    ? streamed(call, { dialect, inferenceRequest, reply })
    : wholeReply(call, { dialect, inferenceRequest, reply })
}

export function dialectNamed(name: string, { dialects }: Call['site']): ClientDialect {
  const dialect = dialects[name]
  if (dialect === undefined) throw new Error(`The API has no client dialect "${name}".`)
  return dialect
}

/** `encoded`: the body of the response, if it was encoded while the request was settled. */
const wholeReply = (
  { log }: Call,
  { dialect, inferenceRequest, reply }: DialectReply,
  encoded: () => JsonObject | undefined = () => undefined,
): Promise<ApiReply> =>
  reply.whole().then(response => {
    const metadata = reply.metadata()
    const body = encoded() ?? dialect.encodeResponse(response, inferenceRequest, metadata)
    logOutcome(log, metadata, response)
    const answer = json(body, { headers: warningHeaders(metadata.warnings) })
    const kept = reply.kept?.()
    return kept ? kept.then(() => answer) : answer
  })

/** Creates the handler of a row that counts the tokens of a request in the dialect `name`, without calling a model. */
export const countTokens =
  (name: string) =>
  async ({ gateway, site, request, log, body, admission, claimMemory }: Call, caller: Caller): Promise<ApiReply> => {
    const dialect = dialectNamed(name, site)
    const inferenceRequest = (dialect.decodeCounting ?? dialect.decodeRequest)(body, request.header)
    log.note({ model: inferenceRequest.routing.models[0] })
    const { input_tokens, estimated } = await gateway.countTokens(inferenceRequest, caller, {
      signal: request.signal,
      admission,
      claimMemory,
    })
    await admission?.leave()
    log.note({ inputTokens: input_tokens })
    return json({ input_tokens }, estimated ? { headers: { 'x-token-count': 'estimated' } } : {})
  }
