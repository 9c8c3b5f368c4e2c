import type { EarlyAdmission } from '@signalbox/core/request'
import type { ClaimMemory } from '@signalbox/core/runtime'
import type { ClientDialect, InferenceRequest, ResponseMetadata, Usage } from '@signalbox/dialects/protocol'
import type { Caller, Gateway } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import type { WebSocketTurn } from '../websocket/port.ts'

interface WarmUpContext {
  readonly gateway: Gateway
  readonly requestId: string
  readonly admission?: EarlyAdmission | undefined
  readonly claimMemory?: ClaimMemory | undefined
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
export async function warmUp(
  { gateway, requestId, admission: early, claimMemory }: WarmUpContext,
  caller: Caller,
  { dialect, inferenceRequest, turn }: WarmUp,
): Promise<ApiReply> {
  const admission = early ?? (await gateway.admitEarly(caller, requestId))
  // Unknown models and unsatisfiable constraints are refused now. Without input there is nothing to route yet.
  try {
    if (hasInput(inferenceRequest)) await gateway.plan(inferenceRequest, caller, { ...(claimMemory && { claimMemory }) })
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

const hasInput = ({ prompt: { input } }: InferenceRequest): boolean => input.length > 0
