import type { Outcome, ResponseMetadata, Usage } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import type { ApiRequest } from './api.ts'

/** The facts of a completed request. Never contains a secret, a prompt or a response. */
export interface RequestLine {
  readonly requestId: string
  readonly method: string
  /** The row's path, as in `/v1/models/:model_id+`, or `unmatched` without a row. */
  readonly route: string
  /** The requested path without its query, up to 200 characters. Set if no row matched. */
  readonly path?: string
  readonly status: number
  readonly ms: number
  readonly keyId?: string
  readonly workspaceId?: string
  readonly model?: string
  readonly provider?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly costMicrodollars?: number
  /** The error code, including an error in the middle of a stream. */
  readonly code?: string
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }
type LogFacts = Partial<Omit<RequestLine, 'requestId' | 'method' | 'ms'>>

/** Collects the facts of a request. `end` passes them to `onRequest`, once. */
export interface RequestLog {
  /** Whether there is a listener. Without one nothing is collected. */
  readonly wanted: boolean
  note(facts: LogFacts): void
  end(): void
}

const silentLog: RequestLog = { wanted: false, note: () => {}, end: () => {} }

export function startRequestLog(
  gateway: Gateway,
  request: ApiRequest,
  listen: { readonly requestId: string; readonly onRequest: ((line: RequestLine) => void) | undefined },
): RequestLog {
  const { requestId, onRequest } = listen
  if (onRequest === undefined) return silentLog
  const began = gateway.clock.monotonic()
  // The same object is filled from the start and passed to the listener.
  const line: Writable<RequestLine> = { requestId, method: request.method, route: 'unmatched', status: 0, ms: 0 }
  let ended = false
  return {
    wanted: true,
    note(facts) {
      if (!ended) Object.assign(line, facts)
    },
    end() {
      if (ended) return
      ended = true
      line.ms = Math.round((gateway.clock.monotonic() - began) * 10) / 10
      try {
        onRequest(line)
      } catch (error) {
        gateway.logger.error({ requestId, error: String(error) }, '`onRequest` threw an error; the request is not affected.')
      }
    },
  }
}

/** Adds the outcome of an inference request to its log entry: model, provider, cost, tokens, error. */
export function logOutcome(
  log: RequestLog,
  metadata: ResponseMetadata,
  { outcome, usage }: { readonly outcome: Outcome; readonly usage?: Usage },
): void {
  if (!log.wanted) return
  const { routing } = metadata
  log.note({
    model: metadata.model,
    provider: routing?.provider,
    costMicrodollars: routing?.cost === undefined ? undefined : Math.round(routing.cost.usd * 1_000_000),
    ...(usage !== undefined && { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }),
    code: outcome.status === 'failed' ? (outcome.error.code ?? outcome.error.kind) : undefined,
  })
}
