import { GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import type { IdempotencyEntry, StoredReply } from '@signalbox/workspaces'
import type { ApiReply } from './api.ts'
import type { IdempotentRequest, WorkspaceRoute } from './route.ts'
import { takesIdempotencyKey } from './route.ts'

const header = 'Idempotency-Key'

// The entry is a record whose name is a hash of workspace, key, row, path and header, committed with the change: of equal requests in any
// process one makes the change. A response that cannot be stored afterwards is lost, and the change is not repeated. Responses with a secret
// are never stored.

/** A first request that began within this time may still be running. */
const runningMs = 10_000

/**
 * Runs a POST with an `Idempotency-Key` once: a repeated request with the same body gets the first reply. `run` commits the given entry in
 * the same transaction as its change, so one of several concurrent requests succeeds, and the others find its reply.
 */
export async function withIdempotencyKey(
  request: IdempotentRequest,
  run: (once?: IdempotencyEntry) => ApiReply | Promise<ApiReply>,
): Promise<ApiReply> {
  const { row, call, caller, text } = request
  const key = takesIdempotencyKey(row) ? call.request.header(header.toLowerCase()) : undefined
  if (key === undefined) return run()
  const { replies } = call.gateway
  const once = await replies.name([caller.workspaceId, caller.keyId, row.method, row.path, call.params, checkHeader(key)], text)
  const before = await replies.find(once)
  if (before) return replay(before, row)
  try {
    const reply = await run(once)
    const { status, body } = reply
    if (row.secret === undefined && typeof body === 'string') await replies.keep(once, { status, body })
    return reply
  } catch (thrown) {
    if (!isGatewayError(thrown) || thrown.status !== 409) throw thrown
    // A concurrent request with the same key may have created the resource that now conflicts.
    const meanwhile = await replies.find(once)
    if (meanwhile) return replay(meanwhile, row)
    throw thrown
  }
}

function checkHeader(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new GatewayError('invalid_parameter_value', {
    message: `${header} must be sent once, with 1 to 255 visible ASCII characters.`,
    param: header,
  })
}

/** The stored reply. Throws if there is none that can be sent. */
function replay({ isOther, answer, ageMs }: StoredReply, { secret }: WorkspaceRoute): ApiReply {
  if (isOther)
    throw new GatewayError('duplicate_resource', {
      message: `This ${header} was already used with a different request body. Use a new key for each request.`,
    })
  if (answer) return { ...answer, headers: { 'content-type': 'application/json', 'idempotent-replayed': 'true' } }
  const done = `A request with this ${header} has already completed`
  if (secret)
    throw new GatewayError('idempotency_replay_unavailable', {
      message: `${done}. Its response contained a secret and was not stored. Read the created resource, or use another key.`,
    })
  if (ageMs < runningMs)
    throw new GatewayError('idempotency_replay_unavailable', {
      message: `${done} or is still running, and its response is not available yet. Try again in a moment.`,
      retryAfterMs: 1_000,
      shouldRetry: true,
    })
  throw new GatewayError('idempotency_replay_unavailable', {
    message: `${done}, and its response is no longer stored. Read the resource, or use another key.`,
  })
}
