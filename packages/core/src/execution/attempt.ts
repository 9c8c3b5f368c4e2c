import pTimeout from 'p-timeout'
import type { EventDecoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { unfold } from '../protocol/unfold.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Ending, EndReason } from '../runtime/ending.ts'
import type { Clock } from '../runtime/ports.ts'
import { type Batch, type Batches, commit } from './commit.ts'
import { type Frames, type SendPorts, send } from './send.ts'
import { toldInStream } from './told.ts'
import { type Watch, watch } from './watch.ts'

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
  readonly ending: Ending
  readonly limits: AttemptLimits
}

export type Attempted =
  | { readonly ok: true; readonly events: Batches; readonly warnings: readonly Warning[] }
  | { readonly ok: false; readonly failure: Failure; readonly accepted: boolean }

/** One call to one candidate: encode, send, decode, commit. What it ends in is a value. */
export async function attempt(trying: Trying, ports: SendPorts): Promise<Attempted> {
  const { candidate, request, limits } = trying
  const { provider, offer } = candidate
  const blame = (failure: Failure): Failure => ({ ...failure, provider: provider.id })
  const dialect = provider.dialects.find(({ name }) => name === offer.dialect)
  if (!dialect) {
    return {
      ok: false,
      accepted: false,
      failure: blame({ kind: 'unsupported', message: `It does not speak the dialect "${offer.dialect}" of the offer.` }),
    }
  }
  const { body, warnings } = dialect.encodeRequest(request, offer, { ...provider.quirks, ...offer.quirks })
  const [warning] = warnings
  if (request.routing.strict && warning) {
    const param = warning.param === undefined ? {} : { param: warning.param }
    return { ok: false, accepted: false, failure: blame({ kind: 'unsupported', message: warning.message, ...param }) }
  }

  const line = openLine(trying.ending)
  let accepted = false
  const stream = request.delivery === 'stream'
  const run = async (): Promise<Attempted> => {
    const sent = await send({ candidate, dialect, body, stream, signal: line.signal, onAccepted: () => (accepted = true) }, ports)
    if (!sent.ok) return { ok: false, accepted, failure: blame(sent.failure) }
    const events =
      'body' in sent ? arrivedAtOnce(unfold(dialect.decodeResponse(sent.body))) : decoded(sent.frames, dialect.decodeEvents(), line)
    const committed = await commit(events, !stream)
    return committed.ok ? { ok: true, events: committed.events, warnings } : { ok: false, accepted, failure: blame(committed.failure) }
  }

  const ceilingMs = Math.min(limits.ceilingMs, limits.deadlineAt - ports.clock.monotonic())
  const outcome = await within(run(), { ceilingMs, ending: trying.ending, clock: ports.clock })
  if (typeof outcome !== 'string') {
    if (outcome.ok && stream)
      return { ...outcome, events: guarded(outcome.events, { line, limits, clock: ports.clock, provider: provider.id }) }
    if (outcome.ok) {
      // A whole answer is here to its end; there is nothing left to guard.
      line.letGo()
      return outcome
    }
    line.hangUp()
    return outcome
  }
  line.hangUp()
  return {
    ok: false,
    accepted,
    failure: blame({ kind: outcome, message: outcome === 'timed_out' ? `The limit of ${Math.ceil(ceilingMs)} ms passed.` : '' }),
  }
}

/** Waits for `work` no longer than the ceiling, nor than the caller stays. What comes too late is nobody's. */
async function within<T>(
  work: Promise<T>,
  { ceilingMs, ending, clock }: { readonly ceilingMs: number; readonly ending: Ending; readonly clock: Clock },
): Promise<T | 'timed_out' | EndReason> {
  let stop = (): void => {}
  const staying = new Promise<T | EndReason>((resolve, reject) => {
    work.then(resolve, reject)
    stop = ending.onEnd(() => resolve(ending.why ?? 'client_left'))
  })
  try {
    return await pTimeout(staying, {
      milliseconds: Math.max(1, ceilingMs),
      fallback: () => 'timed_out' as const,
      customTimers: timersOf(clock),
    })
  } finally {
    stop()
  }
}

/** p-timeout types its timers after the runtime's own, which a clock of ours need not be. */
const timersOf = (clock: Clock) =>
  ({
    setTimeout: (run: () => void, milliseconds: number) => clock.setTimeout(run, milliseconds),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  }) as never

/** The attempt's own signal, which also follows the request; it lets go of the request when it is over. */
interface Line {
  readonly signal: AbortSignal
  readonly ending: Ending
  /** Why we hung up ourselves, if we did. */
  why: 'idle' | 'deadline' | undefined
  hangUp(): void
  letGo(): void
}

function openLine(ending: Ending): Line {
  const controller = new AbortController()
  const letGo = ending.onEnd(() => controller.abort(new Error(ending.why)))
  return {
    signal: controller.signal,
    ending,
    why: undefined,
    hangUp: () => {
      letGo()
      controller.abort(new Error('The attempt is over.'))
    },
    letGo,
  }
}

function arrivedAtOnce(events: ReturnType<typeof unfold>): Batches {
  let told = false
  return {
    next: () => {
      if (told) return Promise.resolve({ done: true, value: undefined })
      told = true
      return Promise.resolve({ done: false, value: events })
    },
    return: () => Promise.resolve({ done: true, value: undefined }),
  }
}

/** Frames → events. However the frames stop (an end, a break, a hang-up), the last event is `finished`. */
function decoded({ source, toFrames, last }: Frames, decoder: EventDecoder, line: Line): Batches {
  let over = false
  const ended = (): ReturnType<EventDecoder['end']> => {
    over = true
    return decoder.end()
  }
  const read = async (): Promise<ReturnType<EventDecoder['read']>> => {
    try {
      const step = await source.next()
      if (!step.done) return decoder.read(toFrames(step.value))
      const rest = decoder.read(last())
      return isOver(rest) ? rest : [...rest, ...ended()]
    } catch {
      line.hangUp()
      return ended()
    }
  }
  return {
    async next() {
      while (!over) {
        const events = await read()
        if (events.length === 0) continue
        if (isOver(events) && !over) {
          over = true
          void drain(source)
        }
        return { done: false, value: events }
      }
      return { done: true, value: undefined }
    },
    async return() {
      over = true
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}

const isOver = (events: readonly InferenceEvent[]): boolean => events.at(-1)?.type === 'finished'

/** After its last word a provider closes the answer; only when that is read can the connection serve again. Trailing garbage ends it instead. */
async function drain(source: AsyncIterator<unknown, undefined>): Promise<void> {
  try {
    for (let reads = 0; reads < 8; reads += 1) if ((await source.next()).done) return
    await source.return?.()
  } catch {
    // A reset after the last word harms nobody.
  }
}

interface Guarding {
  readonly line: Line
  readonly limits: AttemptLimits
  readonly clock: Clock
  readonly provider: string
}

const limitWords = { idle: 'The stream fell silent.', deadline: 'The deadline of the request passed.' } as const

/** After commit: idle and deadline end the stream, and a failure is told in the caller's terms. */
function guarded(events: Batches, { line, limits, clock, provider }: Guarding): Batches {
  const guard: Watch = watch({ clock, idleMs: limits.idleMs, deadlineAt: limits.deadlineAt }, why => {
    line.why = why
    line.hangUp()
  })
  const close = (): void => {
    guard.stop()
    line.letGo()
  }
  const pass = (step: IteratorResult<Batch, undefined>): IteratorResult<Batch, undefined> => {
    if (step.done) {
      close()
      return step
    }
    guard.heard()
    const last = step.value.at(-1)
    if (last?.type !== 'finished') return step
    close()
    if (last.outcome.status !== 'failed') return step
    const outcome = { status: 'failed' as const, error: toldInStream({ ...whyEnded(line, last.outcome.error), provider }) }
    return { done: false, value: [...step.value.slice(0, -1), { ...last, outcome }] }
  }
  return {
    next: () => {
      guard.waiting()
      return events.next().then(pass)
    },
    async return() {
      close()
      line.hangUp()
      await events.return?.()
      return { done: true, value: undefined }
    },
  }
}

/** A break that we made ourselves is told by its reason, not by what it looked like to the reader. */
function whyEnded(line: Line, seen: Failure): Failure {
  if (line.ending.why) return { kind: line.ending.why, message: '' }
  if (!line.why) return seen
  return { kind: 'timed_out', message: limitWords[line.why], ...(line.why === 'deadline' && { code: 'deadline_exceeded' }) }
}
