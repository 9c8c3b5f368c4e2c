import type { Caller, FoundReply, Once } from '@signalbox/core'
import { GatewayError, isGatewayError } from '@signalbox/core/errors'
import type { ApiReply } from './exchange.ts'
import type { Call, WorkspaceRoute } from './routes.ts'
import { takesIdempotencyKey } from './row-errors.ts'

interface Asked {
  readonly row: WorkspaceRoute
  readonly call: Call
  readonly caller: Caller
  /** The body as it came. */
  readonly text: string
}

const header = 'Idempotency-Key'

/** So long the first of two may still be at work. */
const runningMs = 10_000

/**
 * A POST with an `Idempotency-Key` happens once: asked for again, with the same body, it gets the answer of before. `run` notes the
 * name it is given with whatever it changes, so of many at the same time one changes something, and the others find that it has.
 */
export async function onlyOnce(asked: Asked, run: (once?: Once) => ApiReply | Promise<ApiReply>): Promise<ApiReply> {
  const { row, call, caller, text } = asked
  const key = takesIdempotencyKey(row) ? call.request.header(header.toLowerCase()) : undefined
  if (key === undefined) return run()
  const { replies } = call.gateway
  const once = await replies.name([caller.workspaceId, caller.keyId, row.method, row.path, call.params, checked(key)], text)
  const before = await replies.find(once)
  if (before) return again(before, row)
  try {
    const reply = await run(once)
    const { status, body } = reply
    if (row.secret === undefined && typeof body === 'string') await replies.keep(once, { status, body })
    return reply
  } catch (thrown) {
    if (!isGatewayError(thrown) || thrown.status !== 409) throw thrown
    // Somebody else may have been faster, after we had looked: what is in the way is the thing itself.
    const meanwhile = await replies.find(once)
    if (meanwhile) return again(meanwhile, row)
    throw thrown
  }
}

function checked(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new GatewayError('invalid_parameter_value', { message: `${header} takes 1 to 255 visible ASCII characters, once.`, param: header })
}

/** What was answered, or why it cannot be said. */
function again({ isOther, answer, ageMs }: FoundReply, { secret }: WorkspaceRoute): ApiReply {
  if (isOther)
    throw new GatewayError('duplicate_resource', {
      message: `This ${header} was sent before, with another body. Use one key for each request.`,
    })
  if (answer) return { ...answer, headers: { 'content-type': 'application/json', 'idempotent-replayed': 'true' } }
  const done = `A request with this ${header} was done before`
  if (secret)
    throw new GatewayError('idempotency_replay_unavailable', {
      message: `${done}. Its answer held a secret and is not kept. Look for what it made, or use another key.`,
    })
  if (ageMs < runningMs)
    throw new GatewayError('idempotency_replay_unavailable', {
      message: `${done}, or is just being done, and its answer is not there. Try again in a moment.`,
      retryAfterMs: 1_000,
    })
  throw new GatewayError('idempotency_replay_unavailable', {
    message: `${done}, and its answer is not kept. Look at the resource itself, or use another key.`,
  })
}
