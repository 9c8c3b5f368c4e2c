import type { Outcome, Stamp, Usage } from '@signalbox/core/protocol'
import type { Line } from '../line.ts'

/** What the request's log line tells of an answer. */
export function noteOutcome(line: Line, stamp: Stamp, { outcome, usage }: { readonly outcome: Outcome; readonly usage?: Usage }): void {
  if (!line.wanted) return
  const { routing } = stamp
  line.note({
    model: stamp.model,
    ...(routing !== undefined && { provider: routing.provider }),
    ...(routing?.cost !== undefined && { costMicrodollars: Math.round(routing.cost.usd * 1_000_000) }),
    ...(usage !== undefined && { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }),
    ...(outcome.status === 'failed' && { code: outcome.error.code ?? outcome.error.kind }),
  })
}
