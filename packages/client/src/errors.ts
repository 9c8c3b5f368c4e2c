/** The details of a ClientError, as those of a GatewayError. */
export interface ClientErrorFacts {
  readonly message: string
  /** Path of the field at fault, as in `budget.limit_usd`. */
  readonly param?: string
  /** What to try instead. */
  readonly suggestion?: string
  /** Milliseconds after which the same request may succeed, from `Retry-After`. */
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/**
 * A code of the gateway (`resource_not_found`), `connection_failed` if no reply came, or `unexpected_reply` if one came that is not the
 * gateway's.
 */
export type ClientErrorCode = 'connection_failed' | 'unexpected_reply' | (string & {})

/**
 * A call that failed. `isGatewayError` of `signalbox` knows it, too.
 *
 * @example
 * try {
 *   await client.budgets.get(id)
 * } catch (error) {
 *   if (error instanceof ClientError && error.code === 'resource_not_found') console.log(error.message)
 *   else throw error
 * }
 */
export class ClientError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ClientErrorCode
  /** The HTTP status; 0 if no reply came. */
  readonly status: number
  readonly facts: ClientErrorFacts
  /** Of the reply: what the log of the gateway knows the request by. */
  readonly requestId: string | undefined

  constructor(code: ClientErrorCode, { status, facts, requestId }: Pick<ClientError, 'status' | 'facts' | 'requestId'>) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.status = status
    this.facts = facts
    this.requestId = requestId
  }

  /** What to try instead. */
  get hint(): string | undefined {
    return this.facts.suggestion
  }
}

interface WireError {
  readonly message?: unknown
  readonly code?: unknown
  readonly param?: string | null
  readonly suggestion?: string
}

/** The error that a reply with a status of 400 or more tells. */
export function errorOf(reply: Response, text: string): ClientError {
  const { message, code, param, suggestion } = wireErrorIn(text)
  if (typeof message !== 'string' || typeof code !== 'string') return unexpectedReply(reply)
  const seconds = Number(reply.headers.get('retry-after') ?? Number.NaN)
  const facts = {
    message,
    param: param ?? undefined,
    suggestion,
    retryAfterMs: seconds >= 0 ? seconds * 1_000 : undefined,
  }
  return new ClientError(code, { status: reply.status, facts, requestId: requestIdOf(reply) })
}

/** A reply that does not come from a gateway, but from something before it or in its place. */
export const unexpectedReply = (reply: Response): ClientError => {
  const { status, url } = reply
  const message = `The reply from ${url}, with status ${status}, is not one of the gateway. Check \`baseURL\` and what stands between.`
  return new ClientError('unexpected_reply', { status, facts: { message }, requestId: requestIdOf(reply) })
}

const requestIdOf = ({ headers }: Response): string | undefined => headers.get('x-request-id') ?? undefined

export const connectionFailed = (url: string, cause: unknown): ClientError => {
  const message = `No whole reply came from ${url}: ${cause instanceof Error ? cause.message : String(cause)}`
  return new ClientError('connection_failed', { status: 0, facts: { message, cause }, requestId: undefined })
}

function wireErrorIn(text: string): WireError {
  try {
    return JSON.parse(text).error ?? {}
  } catch {
    return {}
  }
}
