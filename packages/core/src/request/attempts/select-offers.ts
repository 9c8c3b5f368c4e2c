import { requestPrice } from '@signalbox/dialects/common'
import type { InferenceRequest, Rates } from '@signalbox/dialects/protocol'
import { ratesAt } from '@signalbox/dialects/protocol'
import type { DynamicRouter, RouterChoice, RouterOffer, RouterRequest, TrackedOffer } from '@signalbox/router'
import type { Trace } from '@signalbox/router/decision-log'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { TrackCandidate } from '../../routing/tracked-offers.ts'
import { callHook } from '../../runtime/call-hook.ts'
import type { CallFacts, Hooks, Logger } from '../../runtime/ports.ts'
import type { SelectedOffer } from '../../upstream/attempt.ts'
import type { RequestDecisionLog } from './gateway-decision-log.ts'

// Selects the offers of a planned request, with the router.

export interface SelectPorts {
  readonly router: DynamicRouter
  readonly trackCandidate: TrackCandidate
}

export interface SelectionInput {
  readonly plan: Plan
  readonly request: InferenceRequest
  readonly inputTokens: number
  /** The same for all requests of one conversation. Undefined if no provider would cache the prompt. */
  readonly cacheKey: string | undefined
  /** Milliseconds until the deadline of the request. */
  readonly leftMs: number
  /** Maximum milliseconds for one attempt. */
  readonly ceilingMs: number
  readonly attempts: number
  /** Whether the request may be hedged. */
  readonly hedge?: boolean
  /** Preview only: changes no state. */
  readonly dryRun?: boolean
}

export interface Selection {
  /** The offer to try now, evaluated again on each call. */
  next(): SelectedOffer | undefined
  /** All offers, best first, as first evaluated. */
  all(): readonly [SelectedOffer, ...SelectedOffer[]]
  /** The decisions so far and their outcomes. Undefined if they are not recorded. */
  readonly trace?: () => Trace
}

export function select({ router, trackCandidate }: SelectPorts, selecting: SelectionInput): Selection {
  const { plan, request, inputTokens, ceilingMs } = selecting
  const { candidates } = plan
  const reasoning = reasoningOf(request)
  let mayReason = reasoning === 'requested'
  const offers = candidates.map(candidate => {
    mayReason ||= reasoning === 'unset' && reasonsByDefault(candidate)
    const thinking = reasoning === 'requested' && canReason(candidate)
    return trackCandidate(candidate, { rates: ratesFor(candidate, request, inputTokens), thinking })
  })
  const silenceMs = reasoning === 'requested' ? ceilingMs : Math.min(ceilingMs, defaultReasoningMs)
  const routed = router.plan(askingFor(selecting, offers, mayReason ? silenceMs : undefined), offers)
  const selected = (choice: RouterChoice): SelectedOffer => {
    const at = offers.findIndex(({ offer }) => offer === choice.offer)
    return { choice, candidate: candidates[at] as Candidate, contender: offers[at] as TrackedOffer }
  }
  return {
    next() {
      const choice = routed.next()
      return choice && selected(choice)
    },
    all() {
      const [first, ...others] = routed.choices()
      return [selected(first), ...others.map(selected)]
    },
    trace: routed.trace,
  }
}

export interface SelectionPorts extends SelectPorts {
  /** Records how requests were routed. */
  readonly decisionLog: RequestDecisionLog
  readonly hooks: Hooks
  readonly logger: Logger
}

/** Starts the selection for a request that will be sent: records its decisions and calls the plan hook. */
export function startSelection(ports: SelectionPorts, selecting: SelectionInput & { readonly facts: CallFacts }): Selection {
  const { decisionLog, hooks, logger } = ports
  const { facts, plan } = selecting
  const selection = select(ports, selecting)
  if (hooks.onRoute) {
    const nameOf = ({ candidate: { provider, offer } }: SelectedOffer): string => `${provider.id}/${offer.model}`
    callHook(logger, 'onRoute', () => hooks.onRoute?.(facts, selection.all().map(nameOf)))
  }
  const { trace } = selection
  if (trace) decisionLog.keep(facts.requestId, { trace, excluded: plan.excluded, strategy: plan.strategy })
  return selection
}

/** `silenceMs`: how long a model that reasons may be silent. Undefined if none does. */
function askingFor(selecting: SelectionInput, offers: readonly TrackedOffer[], silenceMs: number | undefined): RouterRequest {
  const { plan, request, inputTokens, cacheKey, leftMs, ceilingMs, hedge = false, dryRun = false } = selecting
  const { prompt, routing, delivery } = request
  const rank = rankBy(selecting, offers)
  return {
    inputTokens,
    stream: delivery === 'stream',
    preference: plan.ruling === 'order' ? 'balanced' : plan.ruling,
    deadlineMs: leftMs,
    timeoutMs: ceilingMs,
    // Without fallbacks, a single attempt may use all of the time.
    maxAttempts: routing.allow_fallbacks ? selecting.attempts : 1,
    hedge,
    dryRun,
    maxOutputTokens: prompt.max_output_tokens,
    cacheKey,
    rank,
    ...(silenceMs !== undefined && { newOfferTimeoutMs: ceilingMs, minTimeoutMs: silenceMs }),
  }
}

/** Milliseconds of silence that count as a hang for a model that reasons by default. Such reasoning is usually brief. */
const defaultReasoningMs = 30_000

/** Rates of an offer without a known price: high, so that it does not count as free. Plans contain no such offers. */
const unknownRates: Rates = { input: 1_000_000_000, output: 1_000_000_000 }

function ratesFor(candidate: Candidate, request: InferenceRequest, inputTokens: number): Rates {
  const price = requestPrice(candidate, request)
  return price ? ratesAt(price, inputTokens) : unknownRates
}

/** Whether reasoning is requested, turned off, or left to the model. */
function reasoningOf({ prompt: { reasoning } }: InferenceRequest): 'requested' | 'unset' | 'none' {
  if (reasoning?.effort === undefined) return reasoning?.budget_tokens === undefined ? 'unset' : 'requested'
  return reasoning.effort === 'none' ? 'none' : 'requested'
}

const canReason = ({ offer }: Candidate): boolean => offer.abilities?.includes('reasoning') ?? true

/** Whether the model supports reasoning, and reasoning is not known to be off by default. */
const reasonsByDefault = ({ offer, model }: Candidate): boolean =>
  offer.quirks?.thinksUnasked !== false && (offer.abilities?.includes('reasoning') ?? model.capabilities?.includes('reasoning') ?? false)

/**
 * The caller's ranks. Undefined if only the score decides, which allows exploration; without fallbacks all ranks are equal, which
 * forbids it.
 */
function rankBy(
  { plan: { ranks }, request }: SelectionInput,
  offers: readonly TrackedOffer[],
): ((offer: RouterOffer) => number) | undefined {
  if (!ranks) return request.routing.allow_fallbacks ? undefined : () => 0
  const places = new Map(offers.map(({ offer }, index) => [offer, ranks[index] ?? 0]))
  return offer => places.get(offer) ?? 0
}
