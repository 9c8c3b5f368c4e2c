import { promised } from '@signalbox/storage/awaitable'
import { itemOwnerOf } from '../access/caller.ts'
import { tagsOf } from '../access/tags.ts'
import { requestPrice } from '../dialects/request-price.ts'
import { createMeter, type MeteredAnswer, meteredAnswer, meterResponse } from '../metering/meter.ts'
import type { UsageDrains } from '../metering/usage-drains.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { InferenceResponse, Usage } from '../protocol/response.ts'
import { makePlan } from '../routing/make-plan.ts'
import type { Plan } from '../routing/plan.ts'
import type { CallFacts } from '../runtime/ports.ts'
import { runSteps, type Step, wait } from '../runtime/steps.ts'
import type { AnswerStream } from '../upstream/answer-stream.ts'
import type { CommittedCall } from '../upstream/call.ts'
import type { Limits, Timeouts } from '../upstream/limits.ts'
import { type AdmitPorts, admit } from './admission/admit.ts'
import { createJournal, type JournalProgress, type LiveJournal } from './admission/journal.ts'
import { isOwnRateLimit } from './admission/rate-limits.ts'
import type { Attempts } from './attempts/attempt-context.ts'
import { type AttemptLoopPorts, attemptLoop } from './attempts/attempt-loop.ts'
import { cacheKeyOf } from './attempts/cache-key.ts'
import { hedges } from './attempts/hedging.ts'
import { reportEnd } from './attempts/report-outcome.ts'
import { type SelectionPorts, startSelection } from './attempts/select-offers.ts'
import { checkContent } from './check-content.ts'
import { openCompactions } from './compaction/open-compactions.ts'
import { type FollowedRequest, type FollowPorts, followClient } from './follow-client.ts'
import { applyPolicy, type PolicedRequest, type PolicyPorts } from './policy/apply-policy.ts'
import { type MoneyBounds, moneyBounds } from './policy/money-bounds.ts'
import { type Carried, openCarried, pinned } from './reasoning-state/open-state.ts'
import { type CallOptions, leaveReply, type OpenedReply, type Reply, replyOf } from './reply.ts'
import { type PipelinePorts, type ResponsePipeline, responsePipeline } from './response/response-pipeline.ts'
import { responseStream } from './response/response-stream.ts'
import { type Allowance, allowanceOf, runningLimit } from './settlement/running-cost.ts'
import { createSettlement, type Settlement, type SettlementPorts } from './settlement/settlement.ts'
import { withUsageWarning } from './settlement/usage-warning.ts'
import { createStamper, type StampFacts } from './stamp.ts'

/** What the steps of a request need, each by an interface of its own. */
export interface RequestPorts
  extends PolicyPorts,
    AdmitPorts,
    SelectionPorts,
    AttemptLoopPorts,
    PipelinePorts,
    SettlementPorts,
    FollowPorts {
  readonly limits: Limits
  readonly timeouts: Timeouts
  /** Two providers may be called at once where a request does not say. */
  readonly hedge: boolean
  /** Answers that are read on after their client has left. */
  readonly drains: UsageDrains
}

type InferOptions = CallOptions & { readonly requestId: string }

/** One request: what came, and what is known of it so far. */
interface RequestState {
  readonly asked: InferenceRequest
  readonly options: InferOptions
  readonly following: FollowedRequest
  /** Unix milliseconds. */
  readonly at: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
  known: StampFacts
}

/** A request's whole life. Read this file first: `answerRequest` has its steps in order. */
export function infer(ports: RequestPorts, asked: InferenceRequest, options: InferOptions): Reply {
  const { requestId, signal, waitUntil } = options
  const at = ports.clock.now()
  const stamp = createStamper({ requestId, modelAsked: asked.routing.models[0], at })
  const leave = (): Promise<void> => leaveReply(opened)
  const deadlineMs = asked.routing.deadline_ms ?? ports.timeouts.deadlineMs
  const startedAt = ports.clock.monotonic()
  const following = followClient(ports, { requestId, signal, leave, deadlineMs, startedAt, waitUntil })
  const state: RequestState = { asked, options, following, at, startedAt, known: { warnings: [] } }
  const opened = promised(() => runSteps(answerRequest(ports, state), following.admissionWatch))
  opened.catch(following.release)
  const kept = ports.items?.isStored ? () => state.known.kept?.waiting : undefined
  return replyOf(opened, { stamp: () => stamp(state.known), kept, cancellation: following.cancellation, clock: ports.clock })
}

function* answerRequest(ports: RequestPorts, state: RequestState): Step<OpenedReply> {
  const { caller, requestId, admission } = state.options
  const { workspaceId, keyId, ancestors, budgets } = caller
  try {
    let { asked } = state
    // Compaction items are among those that are not decoded; most requests have none.
    for (const { type } of asked.prompt.input) {
      if (type !== 'native') continue
      asked = yield* wait(openCompactions(asked, caller, ports.ring)) // 400 a summary does not open
      break
    }
    const policed = yield* applyPolicy(ports, asked, state.options)
    const { request, policy } = policed
    state.following.admissionWatch.deadlineMs = request.routing.deadline_ms ?? ports.timeouts.deadlineMs
    checkContent(request.prompt) // 400 nothing to answer
    const tags = caller.tags || request.metadata?.tags ? tagsOf(caller, request.metadata) : undefined
    const call: CallFacts = {
      requestId,
      workspaceId,
      keyId,
      ...(ancestors && { ancestors }),
      ...(budgets && { budgets }),
      ...(tags && { tags }),
      model: state.asked.routing.models[0],
    }
    const bounds = moneyBounds({ policy, caller, prompt: request.prompt, usualOutput: ports.limits.maxOutputTokens })
    const inputTokens = bounds.size.likely
    const carried = yield* wait(openCarried(request, caller, ports.ring))
    const able = makePlan(request, inputTokens, pinned(policed.planning, carried)) // 404 unknown model, 400 no provider can serve this
    const hedge = hedges(ports, request)
    const cacheKey = cacheKeyOf({ request, plan: able, inputTokens, workspaceId, header: state.options.header })
    const recalling = ports.sharing?.lookUpReaders(cacheKey)
    const journal = journalOf(call, { request, plan: able, at: state.at })
    const holding = { requestId, caller, policy, plan: able, inputTokens, bounds, request, hedge, at: state.at, admission, journal }
    const ticket = yield* admit(holding, ports) // 429 too fast or too many, 402 cannot be paid for
    state.following.startLease(ticket.slots, journal)
    admission?.take()
    if (recalling) yield* wait(recalling)
    const allowance = allowanceOf(requestId, ticket.held, { ...ports, ledger: ports.storage.ledger })
    const attempts: Attempts = { count: 0, accepted: [] }
    const { plan } = ticket
    const { at, startedAt } = state
    const { waitUntil } = state.options
    const context = { call, policy, request, plan, ticket, bounds, allowance, inputTokens, at, startedAt, attempts, waitUntil }
    const settlement = createSettlement(ports, context)
    return yield* callAndAnswer(ports, state, { ...context, policed, carried, hedge, cacheKey, journal, settlement })
  } catch (error) {
    if (isOwnRateLimit(error)) ports.refusals.count(caller, state.at)
    // A request that fails before it has taken the slot over gives it back, before its caller learns that it failed.
    if (admission) yield* wait(admission.leave(true))
    throw error
  }
}

interface Admitted {
  readonly call: CallFacts
  readonly request: InferenceRequest
  readonly plan: Plan
  readonly policed: PolicedRequest
  readonly carried: Carried | undefined
  readonly bounds: MoneyBounds
  readonly allowance: Allowance
  readonly inputTokens: number
  readonly hedge: boolean
  readonly cacheKey: string | undefined
  readonly journal: LiveJournal
  readonly attempts: Attempts
  readonly settlement: Settlement
}

/** An admitted request is settled once, however it ends. */
function* callAndAnswer(ports: RequestPorts, state: RequestState, admitted: Admitted): Step<OpenedReply> {
  const { attempts, journal, settlement } = admitted
  const { cancellation, endLease } = state.following
  const progress = (): JournalProgress | undefined => attempts.last && settlement.progress(attempts.last, { characters: 0 })
  journal.progress = progress
  let committed: CommittedCall | undefined
  try {
    committed = yield* callProviders(ports, state, admitted)
    return yield* openAnswer(ports, state, { ...admitted, committed })
  } catch (error) {
    if (committed) {
      reportEnd(ports.router, committed, {})
      if ('stream' in committed.answer) committed.answer.stream.cancel()
    }
    endLease()
    yield* settlement.release(error, cancellation.reason === 'client_left')
    throw error
  }
}

function* callProviders(ports: RequestPorts, state: RequestState, admitted: Admitted): Step<CommittedCall> {
  const { request, policed, attempts } = admitted
  const { clock, timeouts, limits } = ports
  const { startedAt, following } = state
  const { timeout_ms, deadline_ms } = request.routing
  const deadlineAt = startedAt + (deadline_ms ?? timeouts.deadlineMs)
  const usualMs = request.delivery === 'stream' ? timeouts.firstByteMs : timeouts.wholeMs
  const ceilingMs = timeout_ms ?? usualMs
  const selection = startSelection(ports, { ...admitted, leftMs: deadlineAt - clock.monotonic(), ceilingMs, attempts: limits.attempts })
  admitted.settlement.routed(selection)
  return yield* attemptLoop(ports, {
    ...admitted,
    selection,
    attempts,
    startedAt,
    cancellation: following.cancellation,
    limits: { deadlineAt, ceilingMs, idleMs: timeouts.idleMs },
    maxCalls: limits.attempts,
    isCeilingChosen: ceilingMs < usualMs,
    hedgeMaxCost: policed.hedgeMaxCost,
    refusedKeys: policed.policy.refusedKeys,
  })
}

interface Committed extends Admitted {
  readonly committed: CommittedCall
}

function* openAnswer(ports: RequestPorts, state: RequestState, context: Committed): Step<OpenedReply> {
  const { committed, request, plan, bounds, journal, settlement, inputTokens: estimatedInput } = context
  const { candidate, answer } = committed
  const { items } = ports
  const { caller } = state.options
  // Inlined for callers with an API key, which most have.
  const isPlain = !caller.isEndUser && !caller.workspaceId.startsWith('[')
  const owner = isPlain ? caller.workspaceId : itemOwnerOf(caller)
  const kept = items && context.policed.keepsItems ? { items, owner, waiting: undefined } : undefined
  state.known = { candidate, strategy: plan.strategy, warnings: committed.warnings, used: committed.used, estimatedInput, kept }
  const pipeline = responsePipeline(ports, {
    request,
    asked: state.asked,
    committed,
    caller,
    cap: bounds.sentCap(candidate),
  })
  const meter = createMeter(ports.clock)
  const progress = (): JournalProgress => settlement.progress(candidate, meteredAnswer(meter))
  journal.progress = progress
  const settle = (seen: MeteredAnswer): Step<Usage> => settleAnswer(state, context, { pipeline, seen })
  if ('stream' in answer) {
    const running = runningLimitOf(answer.stream, context)
    const stages = { pipeline: pipeline.batch, meter, running, drains: ports.drains }
    return { stream: responseStream(answer.stream, { ...stages, settle: seen => runSteps(settle(seen)) }) }
  }
  const response = yield* wait(pipeline.whole(answer.response))
  meterResponse(meter, response)
  return { response: withUsage(response, yield* settle(meteredAnswer(meter))) }
}

interface AnswerSettlement {
  readonly pipeline: ResponsePipeline
  readonly seen: MeteredAnswer
}

function* settleAnswer(state: RequestState, { committed, settlement }: Committed, { pipeline, seen }: AnswerSettlement): Step<Usage> {
  const { cancellation, endLease, release } = state.following
  endLease()
  const isLeft = cancellation.reason === 'client_left'
  try {
    const warnings = withUsageWarning(pipeline.warnings(), seen)
    const settled = yield* settlement.complete({ ...committed, warnings }, seen, isLeft)
    state.known = { ...state.known, ...settled }
    return settled.usage
  } finally {
    release()
  }
}

function runningLimitOf(stream: AnswerStream, { committed, request, allowance, inputTokens }: Committed) {
  return runningLimit({ allowance, price: requestPrice(committed.candidate, request), inputTokens, stop: stream.stop })
}

const withUsage = (response: InferenceResponse, usage: Usage): InferenceResponse =>
  usage === response.usage ? response : remember({ ...response, usage }, originalOf(response))

const journalOf = (
  { workspaceId, keyId, ancestors, budgets, tags, model }: CallFacts,
  { request, plan, at }: { readonly request: InferenceRequest; readonly plan: Plan; readonly at: number },
): LiveJournal =>
  createJournal({
    workspaceId,
    keyId,
    ...(ancestors && { ancestors: ancestors.map(above => ({ keyId: above.keyId })) }),
    ...(budgets && { budgets }),
    ...(tags && { tags }),
    at,
    modelAsked: model,
    model: plan.candidates[0].model.id,
    strategy: plan.strategy,
    streamed: request.delivery === 'stream',
    metadata: request.metadata,
  })
