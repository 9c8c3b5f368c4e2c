import type { Clock } from '@signalbox/core/runtime'
import type { DialectName, Frame, JsonObject, LocalReply, Provider, ProviderDialect } from '@signalbox/dialects/protocol'
import type { AnswerContent, AnswerError, AnswerWriter, WrittenAnswer } from './answers/answer.ts'
import { answerRequestOf, answerWriters, contentFor, isBuiltInDialect } from './answers/writers.ts'

/** One call that the provider received. `aborted` becomes true when the caller disconnects. */
export interface ScriptedCall {
  readonly body: JsonObject
  readonly stream: boolean
  readonly aborted: boolean
  /** Whether the response was sent completely. */
  readonly finished: boolean
}

/** Handles one call of a scripted provider. */
export type Act = (context: ReplyContext) => Promise<LocalReply>

export interface ReplyContext {
  readonly body: JsonObject
  readonly stream: boolean
  readonly signal: AbortSignal
  readonly writer: AnswerWriter
  readonly answer: WrittenAnswer
  /** Waits on the clock; rejects at once when the caller disconnects. */
  wait(milliseconds: number): Promise<void>
  finished(): void
}

export interface ScriptedProvider extends Provider {
  readonly calls: readonly ScriptedCall[]
  /** Adds acts; each handles one call. Without acts left, calls get a correct response. */
  play(...acts: readonly Act[]): void
}

/** Rejects when the caller disconnects, and never resolves. */
const left = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })

const allFrames = (told: WrittenAnswer): readonly Frame[] => [...told.opening, ...told.content, ...told.closing]

const framesThen = (frames: readonly Frame[], context: ReplyContext, then: () => Promise<void> | void): LocalReply => ({
  status: 200,
  frames: (async function* () {
    for (const frame of frames) {
      if (context.signal.aborted) throw context.signal.reason
      yield [frame]
    }
    await then()
  })(),
})

const answer: Act = async context => {
  if (context.stream) return framesThen(allFrames(context.answer), context, context.finished)
  context.finished()
  return { status: 200, body: context.answer.whole }
}

const withContent =
  (script: AnswerContent): Act =>
  context =>
    answer({ ...context, answer: context.writer.write(script, answerRequestOf(context.body)) })

const scriptedError = (message: string, code: string): AnswerError => ({ message, type: code, code })

const brokenConnection = (): never => {
  throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

/** Acts for {@link scriptedProvider}. Those that break a stream reject if the response is not streamed. */
export const acts = {
  /** Responds with this, or with what the model name requests. */
  reply: (script?: string | AnswerContent): Act =>
    script === undefined ? answer : withContent(typeof script === 'string' ? { text: script } : script),
  toolCall: (name: string, args: JsonObject = {}): Act => withContent({ tools: [{ name, arguments: JSON.stringify(args) }] }),
  /** Waits, then runs the act (default: a correct response). */
  stall:
    (milliseconds: number, then: Act = answer): Act =>
    async context => {
      await context.wait(milliseconds)
      return then(context)
    },
  /** A status other than 200, with an error in the provider's dialect. `retryAfter` in seconds. */
  status:
    (
      status: number,
      more: {
        readonly retryAfter?: number
        readonly message?: string
        readonly code?: string
        readonly headers?: Readonly<Record<string, string>>
      } = {},
    ): Act =>
    async ({ writer }) => ({
      status,
      headers: { ...more.headers, ...(more.retryAfter !== undefined && { 'retry-after': String(more.retryAfter) }) },
      body: writer.error(scriptedError(more.message ?? `Status ${status}.`, more.code ?? 'scripted_error')),
    }),
  /** Announces a response without content; then the connection breaks. */
  preambleThenFail: (): Act => async context =>
    context.stream ? framesThen(context.answer.opening, context, brokenConnection) : brokenConnection(),
  /** The connection breaks after `count` content events. */
  breakAfter:
    (count: number): Act =>
    async context =>
      context.stream
        ? framesThen([...context.answer.opening, ...context.answer.content.slice(0, count)], context, brokenConnection)
        : brokenConnection(),
  /** The stream ends normally after `count` content events, without saying that the response is complete. */
  endAfter:
    (count: number): Act =>
    async context =>
      context.stream
        ? framesThen([...context.answer.opening, ...context.answer.content.slice(0, count)], context, () => {})
        : { status: 200, body: {} },
  /** `count` content events, then silence for this long, then the rest. */
  pauseAfter:
    (count: number, milliseconds: number): Act =>
    async context => {
      const { opening, content, closing } = context.answer
      if (!context.stream) return acts.stall(milliseconds)(context)
      return {
        status: 200,
        frames: paused(
          [
            [...opening, ...content.slice(0, count)],
            [...content.slice(count), ...closing],
          ],
          context,
          milliseconds,
        ),
      }
    },
  /** Never responds. */
  never: (): Act => context => left(context.signal),
  /** Cannot be connected to. */
  unreachable: (): Act => async () => {
    throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  },
  /** Status 200, with an error as the first event. */
  errorFirst:
    (code = 'server_error', message = 'The server had an error.'): Act =>
    async context => {
      const asked = answerRequestOf(context.body)
      return context.stream
        ? framesThen(context.writer.errorFrames(scriptedError(message, code), asked), context, () => {})
        : { status: 200, body: context.writer.failed(scriptedError(message, code), asked) }
    },
  /** An error after `count` content events. */
  errorAfter:
    (count: number, code = 'server_error', message = 'The server had an error.'): Act =>
    async context => {
      const asked = answerRequestOf(context.body)
      const frames = [
        ...context.answer.opening,
        ...context.answer.content.slice(0, count),
        ...context.writer.errorFrames(scriptedError(message, code), asked),
      ]
      return context.stream
        ? framesThen(frames, context, () => {})
        : { status: 200, body: context.writer.failed(scriptedError(message, code), asked) }
    },
} as const

async function* paused(
  halves: readonly [readonly Frame[], readonly Frame[]],
  context: ReplyContext,
  milliseconds: number,
): AsyncGenerator<readonly Frame[], void> {
  yield halves[0]
  await context.wait(milliseconds)
  yield halves[1]
  context.finished()
}

const waiting =
  (signal: AbortSignal, clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>) =>
  (milliseconds: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => {
        signal.removeEventListener('abort', leave)
        resolve()
      }, milliseconds)
      const leave = (): void => {
        clock.clearTimeout(timer)
        reject(signal.reason)
      }
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
    })

const writerOf = (dialect: DialectName): AnswerWriter => {
  if (!isBuiltInDialect(dialect))
    throw new TypeError(`scriptedProvider: "${dialect}" is not spoken here. It speaks ${Object.keys(answerWriters).join(' and ')}.`)
  return answerWriters[dialect]
}

const realTimers: Pick<Clock, 'setTimeout' | 'clearTimeout'> = {
  setTimeout: (run, milliseconds) => setTimeout(run, milliseconds),
  clearTimeout: timer => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
}

/**
 * A provider in this process that plays a list of acts, one per call. No network; time passes on `clock`.
 *
 * @example
 * const clock = fakeClock()
 * const provider = scriptedProvider({ id: 'slow', dialect: chatProvider, clock, acts: [acts.stall(5_000), acts.status(429, { retryAfter: 3
 * })] })
 */
export function scriptedProvider(options: {
  readonly id: string
  readonly dialect: ProviderDialect
  readonly acts?: readonly Act[]
  readonly clock?: Pick<Clock, 'setTimeout' | 'clearTimeout'>
}): ScriptedProvider {
  const { id, dialect, clock = realTimers } = options
  const writer = writerOf(dialect.name)
  const script = [...(options.acts ?? [])]
  const calls: { -readonly [K in keyof ScriptedCall]: ScriptedCall[K] }[] = []
  return {
    id,
    dialects: [dialect],
    credential: { id: `${id}-credential`, owner: 'platform', secret: 'scripted' },
    endpoint: () => `http://${id}.invalid/v1`,
    authorize: () => {},
    calls,
    play: (...more) => {
      script.push(...more)
    },
    answer({ body, stream, signal }) {
      const call = { body, stream, aborted: signal.aborted, finished: false }
      calls.push(call)
      signal.addEventListener(
        'abort',
        () => {
          call.aborted = true
        },
        { once: true },
      )
      const context: ReplyContext = {
        body,
        stream,
        signal,
        writer,
        answer: writer.write(contentFor(body), answerRequestOf(body)),
        wait: waiting(signal, clock),
        finished: () => {
          call.finished = true
        },
      }
      return (script.shift() ?? answer)(context)
    },
  }
}
