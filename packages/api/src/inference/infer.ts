import type { ClientDialect, JsonObject } from '@signalbox/dialects/protocol'
import type { Caller, CallOptions } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import { warningHeaders } from '../headers.ts'
import { json } from '../json-reply.ts'
import { logOutcome } from '../request-log.ts'
import type { Call } from '../route.ts'
import { type DialectReply, streamed } from '../stream.ts'
import { warmUp } from './warm-up.ts'

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
