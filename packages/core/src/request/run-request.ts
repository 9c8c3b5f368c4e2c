import { requestPrice } from '@signalbox/dialects/common'
import type { InferenceRequest, InferenceResponse, Usage } from '@signalbox/dialects/protocol'
import { originalOf, remember } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { andThen, promised, recover } from '@signalbox/storage/awaitable'
import { itemOwnerOf } from '../access/caller.ts'
import { createMeter, type Meter, type MeteredAnswer, meteredAnswer, meterResponse } from '../metering/meter.ts'
import { runSteps, type Step, wait } from '../runtime/steps.ts'
import type { AnswerStream } from '../upstream/answer-stream.ts'
import type { CommittedAttempt } from '../upstream/attempt.ts'
import { admit } from './admission/admit.ts'
import { isOwnRateLimit } from './admission/limits.ts'
import { AttemptLoop } from './attempts/attempt-loop.ts'
import { startSelection } from './attempts/select-offers.ts'
import type { Engine } from './engine.ts'
import { prepareRequest } from './prepare-request.ts'
import { leaveReply, type OpenedReply, type Reply, replyOf } from './reply.ts'
import { type ResponsePipeline, responsePipeline } from './response/response-pipeline.ts'
import { ResponseStream } from './response/response-stream.ts'
import { RequestRun, type RunOptions } from './run.ts'
import { withUsageWarning } from './settlement/charge.ts'
import { progressOf } from './settlement/journaled-progress.ts'
import { runningLimit } from './settlement/running-cost.ts'
import { type Settled, settleAnswered, settleUnanswered } from './settlement/settlement.ts'

// The life of a request: prepare, admit, call providers, open the response at its first content, settle. Read this file first.

/** Runs a request from start to end. */
export function runRequest(engine: Engine, originalRequest: InferenceRequest, options: RunOptions): Reply {
  const leave = (): Promise<void> => leaveReply(opened)
  const run = new RequestRun(engine, originalRequest, options, leave)
  const opened = promised(() => runSteps(openReply(run), run.admissionWatch))
  opened.catch(() => run.end())
  const kept = engine.items?.isStored ? () => run.known.kept?.waiting : undefined
  return replyOf(opened, { metadata: () => run.metadata(), kept, cancellation: run.cancellation, clock: engine.clock })
}

/** Continues in the same turn of the event loop where the policy and the storage answer at once. */
function* openReply(run: RequestRun): Step<OpenedReply> {
  try {
    yield* admitRequest(run)
    return yield* callProviders(run)
  } catch (error) {
    if (isOwnRateLimit(error)) run.engine.refusals.count(run.options.caller, run.at)
    throw error
  }
}

/** Before its admission the request holds nothing. Its waits end when the client disconnects or the deadline passes. */
function* admitRequest(run: RequestRun): Step<void> {
  const { engine, options, admissionWatch } = run
  const { caller, requestId, admission, header, claimMemory } = options
  try {
    // 400 an item is not kept, a summary cannot be opened, there is no content, no provider can serve this; 404 unknown model
    const prepared = yield* prepareRequest(engine, run.originalRequest, { caller, claimMemory, header, admissionWatch })
    run.setPrepared(prepared, () => progressOf(run))
    const { policy, request, bounds, inputTokens, plan, hedge, cacheKey, at, journal } = run
    const recalling = engine.sharing?.lookUpReaders(cacheKey)
    // 429 rate or concurrency limit reached, 402 insufficient credit or budget
    run.setAdmitted(yield* admit({ requestId, caller, policy, plan, inputTokens, bounds, request, hedge, at, admission, journal }, engine))
    admission?.take()
    if (recalling) yield* wait(recalling)
  } catch (error) {
    // A request that fails before it takes over the slot releases it before the caller receives the error.
    if (admission) yield* wait(admission.leave(true))
    throw error
  }
}

/** Calls providers and returns the response. The request is settled exactly once, however it ends. */
function* callProviders(run: RequestRun): Step<OpenedReply> {
  const { engine, facts, plan, request, inputTokens, cacheKey, hedge, ceilingMs } = run
  let answered: InferenceResponse | Undelivered
  try {
    const { attempts } = engine.limits
    const selection = startSelection(engine, {
      ...{ facts, plan, request, inputTokens, cacheKey, hedge, ceilingMs, attempts },
      leftMs: run.leftMs(),
    })
    run.trace = selection.trace
    const committed = yield* new AttemptLoop(run, selection).commit()
    run.committed = committed
    run.release()
    const { answer } = committed
    if ('stream' in answer) return { stream: openStream(run, committed, answer.stream) }
    answered = yield* settleWhole(run, committed, answer.response)
  } catch (error) {
    run.committed?.reportEnd()
    run.committed?.cancel()
    run.endLease()
    yield* wait(settleUnanswered(run, error))
    throw error
  }
  if ('error' in answered) throw answered.error
  return { response: answered }
}

/** Why a whole response, which is settled, could not be delivered. */
type Undelivered = NonNullable<Settled['undelivered']>

/** The first content has arrived: the reply shows its provider, and the journal its progress. */
function openPipeline(run: RequestRun, committed: CommittedAttempt, meter: Meter): ResponsePipeline {
  const { engine, options, plan, inputTokens, request, originalRequest } = run
  const { caller } = options
  const { candidate, warnings, used } = committed
  const { items } = engine
  const kept = items && run.keepsItems ? { items, owner: itemOwnerOf(caller), waiting: undefined } : undefined
  run.known = { candidate, strategy: plan.strategy, warnings, used, estimatedInput: inputTokens, kept }
  run.meter = meter
  return responsePipeline(engine, { request, originalRequest, committed, caller, cap: run.bounds.sentCap(candidate) })
}

function* settleWhole(run: RequestRun, committed: CommittedAttempt, received: InferenceResponse): Step<InferenceResponse | Undelivered> {
  const meter = createMeter(run.engine.clock)
  const pipeline = openPipeline(run, committed, meter)
  const response = yield* wait(pipeline.whole(received))
  meterResponse(meter, response)
  const { encode } = run.options
  // Encodes the response for the client, with what its settlement will be.
  const deliver = (settled: Settled): void => {
    run.known = { ...run.known, ...settled }
    encode?.(withUsage(response, settled.usage), run.metadata())
  }
  const { usage, undelivered } = yield* wait(settle(run, pipeline, meteredAnswer(meter), encode && deliver))
  return undelivered ?? withUsage(response, usage)
}

function openStream(run: RequestRun, committed: CommittedAttempt, answer: AnswerStream): ResponseStream {
  const { cancellation, allowance, inputTokens, request, engine } = run
  const meter = createMeter(engine.clock, answer.timer.stream)
  const pipeline = openPipeline(run, committed, meter)
  const price = requestPrice(committed.candidate, request)
  const stream = new ResponseStream(answer, {
    pipeline: pipeline.batch,
    meter,
    running: runningLimit({ allowance, price, inputTokens, stop: why => answer.stop(why) }),
    drains: engine.drains,
    settle: seen => andThen(settle(run, pipeline, seen), ({ usage }) => usage),
  })
  // If the client disconnects, the response is settled even without a reader. If the gateway closes, the caller is still there and reads
  // the end of the response itself.
  cancellation.onCancel(() => {
    if (cancellation.reason === 'client_left') stream.leave().catch(() => {})
  })
  return stream
}

/** Settles a response, and removes the request from the running ones however that ends. */
function settle(
  run: RequestRun,
  pipeline: ResponsePipeline,
  seen: MeteredAnswer,
  deliver?: (settled: Settled) => void,
): Awaitable<Settled> {
  const committed = run.committed as CommittedAttempt
  run.endLease()
  return recover(
    () => {
      committed.warnings = withUsageWarning(pipeline.warnings(), seen)
      return andThen(settleAnswered(run, committed, seen, deliver), settled => {
        run.known = { ...run.known, ...settled }
        run.end()
        return settled
      })
    },
    (error): never => {
      run.end()
      throw error
    },
  )
}

const withUsage = (response: InferenceResponse, usage: Usage): InferenceResponse =>
  usage === response.usage ? response : remember({ ...response, usage }, originalOf(response))
