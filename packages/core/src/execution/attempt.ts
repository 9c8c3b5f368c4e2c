import type { EncodedRequest, ProviderDialect } from '../protocol/dialect.ts'
import type { Failure } from '../protocol/failure.ts'
import type { Quirks } from '../protocol/model.ts'
import { quirksFor } from '../protocol/provider.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Usage, Warning } from '../protocol/response.ts'
import { unfold } from '../protocol/unfold.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Ending, EndReason } from '../runtime/ending.ts'
import type { Clock, Logger, MediaReader } from '../runtime/ports.ts'
import { longestTimer } from '../runtime/timers.ts'
import { type Batches, type Committed, commit } from './commit.ts'
import { encode } from './encode.ts'
import { arrivedAtOnce, bounded, decoded } from './events.ts'
import { type Guarded, guarded } from './guard.ts'
import { inTurns } from './in-turns.ts'
import { type Line, openLine } from './line.ts'
import { inlineMedia } from './media.ts'
import { failureWithout } from './secrets.ts'
import { type SendPorts, send } from './send.ts'
import { verdicts } from './verdict.ts'

export interface AttemptLimits {
  /** Monotonic milliseconds at which the request is over. */
  readonly deadlineAt: number
  /** To first content of a stream, or to the end of a whole answer. */
  readonly ceilingMs: number
  readonly idleMs: number
}

export interface Trying {
  readonly candidate: Candidate
  readonly request: InferenceRequest
  /** What was left out of the request before it came here. */
  readonly warnings?: readonly Warning[]
  readonly ending: Ending
  readonly limits: AttemptLimits
  /** The call goes out now. Not called where it never does. */
  readonly onSent?: () => void
}

export interface AttemptPorts extends SendPorts {
  readonly logger: Logger
  readonly media?: MediaReader | undefined
}

export type Attempted =
  | {
      readonly ok: true
      readonly events: Batches | Guarded
      readonly warnings: readonly Warning[]
      /** As the provider told it, of an answer that is already over. */
      readonly usage?: Usage
    }
  | { readonly ok: false; readonly failure: Failure; readonly accepted: boolean }

/** One call to one candidate: encode, send, decode, commit. What it ends in is a value, also where a provider's own code throws. */
export async function attempt(trying: Trying, ports: AttemptPorts): Promise<Attempted> {
  const { candidate, request, ending, limits } = trying
  const { provider, offer } = candidate
  const { clock } = ports
  const startedAt = clock.monotonic()
  const line = openLine(ending)
  const call = { accepted: false }
  const lost = (failure: Failure): Attempted => {
    line.hangUp()
    const isTheirs = candidate.credential.owner === 'workspace' && verdicts[failure.kind].teaches === 'credential'
    const named = isTheirs ? { provider: provider.id, credential: candidate.credential.id } : { provider: provider.id }
    return { ok: false, accepted: call.accepted, failure: { ...failureWithout(failure, candidate.credential), ...named } }
  }

  const dialect = provider.dialects.find(({ name }) => name === offer.dialect)
  if (!dialect) return lost(ours(`${provider.id} does not speak the dialect "${offer.dialect}" of its offer.`))
  const ceilingMs = Math.min(limits.ceilingMs, limits.deadlineAt - startedAt)
  const outOfTime = (why: 'timed_out' | EndReason, late: Failure): Attempted => {
    if (why !== 'timed_out') return lost({ kind: why, message: '' })
    return lost(limits.deadlineAt - startedAt <= limits.ceilingMs + 1 ? { kind: 'deadline', message: '' } : late)
  }
  try {
    const quirks = quirksFor(provider, offer)
    const reading = quirks.bytes_only && ports.media ? inlineMedia(request, ports.media, line.signal) : undefined
    const inlined = reading && (await within(reading, { ceilingMs, ending, clock }))
    if (typeof inlined === 'string') return outOfTime(inlined, tooSlow)
    if (inlined && !inlined.ok) return lost(ours(inlined.why))
    const encoded = encode(dialect, inlined?.request ?? request, { offer, quirks })
    const warnings = trying.warnings ? [...trying.warnings, ...encoded.warnings] : encoded.warnings
    const [warning] = warnings
    if (request.routing.strict && warning) return lost(tooLossy(provider.id, warning))
    const sentAt = clock.monotonic()
    trying.onSent?.()
    const exchanging = exchange(trying, ports, { dialect, encoded, line, call, quirks })
    const outcome = await within(exchanging, { ceilingMs: ceilingMs - (sentAt - startedAt), ending, clock })
    if (typeof outcome === 'string')
      return outOfTime(outcome, { kind: 'timed_out', message: `The limit of ${Math.ceil(ceilingMs)} ms passed.` })
    if (!outcome.ok) return lost(outcome.failure)
    const { usage } = outcome
    return { ok: true, events: held(outcome.events, trying, { line, clock }), warnings, ...(usage && { usage }) }
  } catch (error) {
    ports.logger.error({ provider: provider.id, error: String(error) }, 'The provider’s own code threw; the next one is asked.')
    return lost({ kind: 'unreachable', message: '' })
  }
}

/** A sentence of our own, and not the provider's: it was not asked. */
const ours = (message: string): Failure => ({ kind: 'unsupported', message, told: true })

/** Who is slow is whoever keeps the images, not the provider: its health does not suffer. */
const tooSlow = ours('The images and files of the request could not be read in time.')

const tooLossy = (provider: string, { message, param }: Warning): Failure => ({
  ...ours(`${provider} would answer with a warning, which \`gateway.routing.strict\` forbids: ${message}`),
  ...(param !== undefined && { param }),
})

/** A whole answer is here to its end; only a stream has to be guarded. */
function held(
  events: Batches,
  { request, candidate, limits }: Trying,
  { line, clock }: { readonly line: Line; readonly clock: Clock },
): Batches | Guarded {
  if (request.delivery === 'stream') return guarded(events, { line, clock, candidate, ...limits })
  line.letGo()
  return events
}

interface Exchanging {
  readonly dialect: ProviderDialect
  readonly encoded: EncodedRequest
  readonly quirks: Quirks
  readonly line: Line
  readonly call: { accepted: boolean }
}

async function exchange(
  { candidate, request }: Trying,
  ports: SendPorts,
  { dialect, encoded, line, call, quirks }: Exchanging,
): ReturnType<typeof commit> {
  const stream = request.delivery === 'stream'
  const onAccepted = (): void => {
    call.accepted = true
  }
  const sent = await send({ candidate, dialect, encoded, quirks, stream, signal: line.signal, onAccepted }, ports)
  if (!sent.ok) return sent
  if ('body' in sent) {
    const events = arrivedAtOnce(unfold(bounded(dialect.decodeResponse(sent.body, encoded.reading))))
    return spread(await commit(events, true), ports.clock)
  }
  const committed = await commit(decoded(sent.frames, dialect.decodeEvents(encoded.reading), { line, clock: ports.clock }), !stream)
  if (!stream) return spread(committed, ports.clock)
  sent.frames.relax()
  return committed
}

const spread = (committed: Committed, clock: Clock): Committed =>
  committed.ok ? { ...committed, events: inTurns(committed.events, clock) } : committed

/** Waits for `work` no longer than the ceiling, nor than the caller stays. What comes too late is nobody's. */
function within<T>(
  work: Promise<T>,
  { ceilingMs, ending, clock }: { readonly ceilingMs: number; readonly ending: Ending; readonly clock: Clock },
): Promise<T | 'timed_out' | EndReason> {
  return new Promise((resolve, reject) => {
    let stop = (): void => {}
    let timer: unknown
    const done = (settle: () => void): void => {
      clock.clearTimeout(timer)
      stop()
      settle()
    }
    timer = clock.setTimeout(() => done(() => resolve('timed_out')), Math.max(1, Math.min(ceilingMs, longestTimer)))
    stop = ending.onEnd(() => done(() => resolve(ending.why ?? 'client_left')))
    work.then(
      value => done(() => resolve(value)),
      (error: unknown) => done(() => reject(error)),
    )
  })
}
