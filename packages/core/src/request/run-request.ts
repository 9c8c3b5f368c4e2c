import { requestPrice } from '@signalbox/dialects/common'
import type { InferenceRequest, InferenceResponse, ResponseMetadata, Usage } from '@signalbox/dialects/protocol'
import { originalOf, remember } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import { itemOwnerOf } from '../access/caller.ts'
import { tagsOf } from '../access/tags.ts'
import { createMeter, type Meter, type MeteredAnswer, meteredAnswer, meterResponse } from '../metering/meter.ts'
import type { UsageDrains } from '../metering/usage-drains.ts'
import type { CallFacts, Clock } from '../runtime/ports.ts'
import { runSteps, type Step, wait } from '../runtime/steps.ts'
import type { AnswerStream } from '../upstream/answer-stream.ts'
import type { CommittedAttempt } from '../upstream/attempt.ts'
import type { Timeouts } from '../upstream/limits.ts'
import { type AdmitPorts, admit } from './admission/admit.ts'
import { createJournal, type JournalProgress, type LiveJournal } from './admission/journal.ts'
import { isOwnRateLimit } from './admission/limits.ts'
import type { AttemptContext, AttemptEngine } from './attempts/attempt-context.ts'
import { AttemptLoop } from './attempts/attempt-loop.ts'
import { type Selection, type SelectionPorts, startSelection } from './attempts/select-offers.ts'
import { type PreparedRequest, type PreparePorts, prepareRequest } from './prepare-request.ts'
import type { Carried } from './reasoning-state/open-state.ts'
import { type CallOptions, leaveReply, type OpenedReply, type Reply, replyOf } from './reply.ts'
import { endLease, type LifetimePorts, releaseRequest, startLease, type TrackedRequest, trackRequest } from './request-lifetime.ts'
import { type PipelinePorts, type ResponsePipeline, responsePipeline } from './response/response-pipeline.ts'
import { ResponseStream } from './response/response-stream.ts'
import { createResponseMetadata, type MetadataFacts } from './response-metadata.ts'
import { withUsageWarning } from './settlement/charge.ts'
import { progressOf } from './settlement/journaled-progress.ts'
import { allowanceOf, runningLimit } from './settlement/running-cost.ts'
import { type Settled, type SettlementContext, type SettlementPorts, settleAnswered, settleUnanswered } from './settlement/settlement.ts'

/** The ports of all request steps; each step declares its own interface. */
export interface RequestPorts
  extends PreparePorts,
    AdmitPorts,
    SelectionPorts,
    AttemptEngine,
    PipelinePorts,
    SettlementPorts,
    LifetimePorts {
  readonly timeouts: Timeouts
  /** Responses that are read on for their usage after the client disconnected. */
  readonly drains: UsageDrains
}

type RunOptions = CallOptions & { readonly requestId: string }

/** One request: the input, and what is known about it so far. */
interface RequestState {
  readonly originalRequest: InferenceRequest
  readonly options: RunOptions
  readonly following: TrackedRequest
  /** Unix milliseconds. */
  readonly at: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
  readonly metadata: () => ResponseMetadata
  known: MetadataFacts
}

/** Runs a request from start to end. Read this file first: `answerRequest` contains the steps in order. */
export function runRequest(ports: RequestPorts, originalRequest: InferenceRequest, options: RunOptions): Reply {
  const { requestId, signal, waitUntil } = options
  const at = ports.clock.now()
  const startedAt = ports.clock.monotonic()
  const metadata = createResponseMetadata({ requestId, modelAsked: originalRequest.routing.models[0], at, startedAt })
  const leave = (): Promise<void> => leaveReply(opened)
  const deadlineMs = originalRequest.routing.deadline_ms ?? ports.timeouts.deadlineMs
  const following = trackRequest(ports, { requestId, signal, leave, deadlineMs, startedAt, waitUntil })
  const state: RequestState = {
    originalRequest,
    options,
    following,
    at,
    startedAt,
    metadata: () => metadata(state.known),
    known: { warnings: [] },
  }
  const opened = promised(() => runSteps(answerRequest(ports, state), following.admissionWatch))
  opened.catch(() => releaseRequest(following))
  const kept = ports.items?.isStored ? () => state.known.kept?.waiting : undefined
  return replyOf(opened, { metadata: state.metadata, kept, cancellation: following.cancellation, clock: ports.clock })
}

function* answerRequest(ports: RequestPorts, state: RequestState): Step<OpenedReply> {
  const { caller, requestId, admission } = state.options
  const { workspaceId, keyId, ancestors, budgets } = caller
  try {
    // 400 an item is not kept, a summary cannot be opened, there is no content, no provider can serve this; 404 unknown model
    const { header, claimMemory } = state.options
    const { admissionWatch } = state.following
    const prepared = yield* prepareRequest(ports, state.originalRequest, { caller, claimMemory, header, admissionWatch })
    const { policy, request, plan, bounds, inputTokens, hedge, cacheKey, carried } = prepared
    const tags = caller.tags || request.metadata?.tags ? tagsOf(caller, request.metadata) : undefined
    const model = state.originalRequest.routing.models[0]
    const facts: CallFacts = {
      ...{ requestId, workspaceId, keyId, model },
      ...(ancestors && { ancestors }),
      ...(budgets && { budgets }),
      ...(tags && { tags }),
    }
    const recalling = ports.sharing?.lookUpReaders(cacheKey)
    const journal = createJournal(facts, { request, plan, at: state.at })
    const { at, startedAt } = state
    const holding = { requestId, caller, policy, plan, inputTokens, bounds, request, hedge, at, admission, journal }
    const ticket = yield* admit(holding, ports) // 429 rate or concurrency limit reached, 402 insufficient credit or budget
    startLease(state.following, ticket.slots, journal)
    admission?.take()
    if (recalling) yield* wait(recalling)
    return yield* callAndAnswer(ports, state, {
      facts,
      policy,
      prepared,
      request,
      plan: ticket.plan,
      ticket,
      bounds,
      allowance: allowanceOf(requestId, ticket.held, ports),
      inputTokens,
      at,
      startedAt,
      attempts: { count: 0, discarded: [] },
      waitUntil: state.options.waitUntil,
      carried,
      hedge,
      cacheKey,
      journal,
      selection: undefined,
      attempted: undefined,
      committed: undefined,
    })
  } catch (error) {
    if (isOwnRateLimit(error)) ports.refusals.count(caller, state.at)
    // A request that fails before it takes over the slot releases it before the caller receives the error.
    if (admission) yield* wait(admission.leave(true))
    throw error
  }
}

/** An admitted request, as used by all later steps. */
interface AdmittedRequest extends SettlementContext {
  readonly prepared: PreparedRequest
  readonly carried: Carried | undefined
  readonly hedge: boolean
  readonly cacheKey: string | undefined
  readonly journal: LiveJournal
  /** Of the selection, only what settlement needs: an open stream does not keep the rest. */
  selection: Pick<Selection, 'trace'> | undefined
  attempted: Pick<AttemptContext, 'lastSent'> | undefined
  /** The attempt whose response the client receives. */
  committed: CommittedAttempt | undefined
}

/** Calls providers and returns the response. The request is settled exactly once, however it ends. */
function* callAndAnswer(ports: RequestPorts, state: RequestState, admitted: AdmittedRequest): Step<OpenedReply> {
  admitted.journal.progress = progressOfCall(ports.clock, admitted)
  let opened: OpenedReply | Undelivered
  try {
    admitted.committed = yield* wait(callProviders(ports, state, admitted))
    opened = yield* openAnswer(ports, state, admitted as CommittedRequest)
  } catch (error) {
    const { committed } = admitted
    committed?.reportEnd()
    committed?.cancel()
    endLease(state.following)
    yield* settleUnanswered(ports, admitted, { error, isLeft: state.following.cancellation.reason === 'client_left' })
    throw error
  }
  if ('error' in opened) throw opened.error
  return opened
}

/** Why a whole response, which is settled, could not be delivered. */
type Undelivered = NonNullable<Settled['undelivered']>

/** The progress of a request whose response has not begun. */
const progressOfCall = (clock: Clock, admitted: AdmittedRequest) => (): JournalProgress | undefined => {
  const lastSent = admitted.attempted?.lastSent
  return lastSent && progressOf(clock, admitted, { candidate: lastSent, characters: 0, reasoningCharacters: 0 })
}

function callProviders(ports: RequestPorts, state: RequestState, admitted: AdmittedRequest): Promise<CommittedAttempt> {
  const { facts, request, plan, prepared, bounds, carried, attempts, startedAt, inputTokens, hedge, cacheKey } = admitted
  const { clock, timeouts, limits } = ports
  const { timeout_ms, deadline_ms } = request.routing
  const deadlineAt = startedAt + (deadline_ms ?? timeouts.deadlineMs)
  const usualMs = request.delivery === 'stream' ? timeouts.firstByteMs : timeouts.wholeMs
  const ceilingMs = timeout_ms ?? usualMs
  const leftMs = deadlineAt - clock.monotonic()
  const { cancellation } = state.following
  const context: AttemptContext = {
    engine: ports,
    options: state.options,
    facts,
    request,
    plan,
    bounds,
    carried,
    cancellation,
    deadlineAt,
    ceilingMs,
    isCeilingChosen: ceilingMs < usualMs,
    maxCalls: limits.attempts,
    startedAt,
    maxHedgeCost: prepared.maxHedgeCost,
    policy: prepared.policy,
    attempts,
    lastSent: undefined,
  }
  admitted.attempted = context
  const selecting = { facts, plan, request, inputTokens, cacheKey, hedge, leftMs, ceilingMs, attempts: limits.attempts }
  const selection = startSelection(ports, selecting)
  const { trace } = selection
  admitted.selection = trace && { trace }
  return new AttemptLoop(context, selection).commit()
}

type CommittedRequest = AdmittedRequest & { readonly committed: CommittedAttempt }

function* openAnswer(ports: RequestPorts, state: RequestState, admitted: CommittedRequest): Step<OpenedReply | Undelivered> {
  const { committed, request, plan, bounds, journal, inputTokens: estimatedInput } = admitted
  const { candidate, answer } = committed
  const { items } = ports
  const { caller } = state.options
  // Inlined for the most common case, a caller with an API key.
  const isPlain = !caller.isEndUser && !caller.workspaceId.startsWith('[')
  const owner = isPlain ? caller.workspaceId : itemOwnerOf(caller)
  const kept = items && admitted.prepared.keepsItems ? { items, owner, waiting: undefined } : undefined
  state.known = { candidate, strategy: plan.strategy, warnings: committed.warnings, used: committed.used, estimatedInput, kept }
  const piping = { request, originalRequest: state.originalRequest, committed, caller, cap: bounds.sentCap(candidate) }
  const pipeline = responsePipeline(ports, piping)
  const meter = createMeter(ports.clock, 'stream' in answer ? answer.stream.timer.stream : undefined)
  journal.progress = progressOfAnswer(ports.clock, admitted, meter)
  if ('stream' in answer) return { stream: openStream(ports, state, { admitted, pipeline, meter, answer: answer.stream }) }
  const response = yield* wait(pipeline.whole(answer.response))
  meterResponse(meter, response)
  const deliver = deliveryOf(state, response)
  const { usage, undelivered } = yield* settleAnswer(ports, state, { admitted, pipeline, seen: meteredAnswer(meter), deliver })
  return undelivered ?? { response: withUsage(response, usage) }
}

/** Encodes a whole response for the client, with what its settlement will be. */
function deliveryOf(state: RequestState, response: InferenceResponse): ((settled: Settled) => void) | undefined {
  const { encode } = state.options
  if (!encode) return undefined
  return settled => {
    state.known = { ...state.known, ...settled }
    encode(withUsage(response, settled.usage), state.metadata())
  }
}

/** The progress of a response. */
const progressOfAnswer = (clock: Clock, admitted: CommittedRequest, meter: Meter) => (): JournalProgress =>
  progressOf(clock, admitted, { candidate: admitted.committed.candidate, ...meteredAnswer(meter) })

interface OpenAnswer {
  readonly admitted: CommittedRequest
  readonly pipeline: ResponsePipeline
  readonly meter: Meter
  readonly answer: AnswerStream
}

function openStream(ports: RequestPorts, state: RequestState, { admitted, pipeline, meter, answer }: OpenAnswer): ResponseStream {
  const settle = (seen: MeteredAnswer): Awaitable<Usage> => runSteps(usageOf(settleAnswer(ports, state, { admitted, pipeline, seen })))
  const running = runningLimitOf(answer, admitted)
  const stream = new ResponseStream(answer, { pipeline: pipeline.batch, meter, running, drains: ports.drains, settle })
  const { cancellation } = state.following
  // If the client disconnects, the response is settled even without a reader. If the gateway closes, the caller is still there and reads
  // the end of the response itself.
  cancellation.onCancel(() => {
    if (cancellation.reason === 'client_left') stream.leave().catch(() => {})
  })
  return stream
}

interface AnswerToSettle {
  readonly admitted: CommittedRequest
  readonly pipeline: ResponsePipeline
  readonly seen: MeteredAnswer
  readonly deliver?: ((settled: Settled) => void) | undefined
}

function* settleAnswer(ports: RequestPorts, state: RequestState, { admitted, pipeline, seen, deliver }: AnswerToSettle): Step<Settled> {
  const { cancellation } = state.following
  endLease(state.following)
  const isLeft = cancellation.reason === 'client_left'
  try {
    const { committed } = admitted
    committed.warnings = withUsageWarning(pipeline.warnings(), seen)
    const settled = yield* settleAnswered(ports, admitted, { committed, seen, isLeft, failure: cancellation.failure, deliver })
    state.known = { ...state.known, ...settled }
    return settled
  } finally {
    releaseRequest(state.following)
  }
}

function* usageOf(settling: Step<Settled>): Step<Usage> {
  return (yield* settling).usage
}

function runningLimitOf(stream: AnswerStream, { committed, request, allowance, inputTokens }: CommittedRequest) {
  return runningLimit({ allowance, price: requestPrice(committed.candidate, request), inputTokens, stop: why => stream.stop(why) })
}

const withUsage = (response: InferenceResponse, usage: Usage): InferenceResponse =>
  usage === response.usage ? response : remember({ ...response, usage }, originalOf(response))
