import type { Contender } from '../../brain/belief.ts'
import type { Brain } from '../../brain/brain.ts'
import type { FlightSummary } from '../../brain/flight-summary.ts'
import type { Choice, RouterOffer, RouterRequest } from '../../brain/port.ts'
import type { Trace } from '../../brain/record.ts'
import { priceFor } from '../../metering/tier.ts'
import type { Rates } from '../../protocol/model.ts'
import { ratesAt } from '../../protocol/rates.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Contenders } from '../../routing/contenders.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { CallFacts, Hooks, Logger } from '../../runtime/ports.ts'
import { tell } from '../../runtime/tell.ts'
import type { SelectedOffer } from '../../upstream/call.ts'
import type { FlightBook } from './flights.ts'

// A plan and the brain: whom to ask, and in what order.

export interface SelectPorts {
  readonly brain: Brain
  readonly contenders: Contenders
}

export interface Selecting {
  readonly plan: Plan
  readonly request: InferenceRequest
  readonly inputTokens: number
  /** The same for all requests of its conversation; absent where nobody would have kept the prompt. */
  readonly cacheKey: string | undefined
  /** Milliseconds that the request has. */
  readonly leftMs: number
  /** For one attempt. */
  readonly ceilingMs: number
  readonly attempts: number
  /** Two may be asked at once. */
  readonly hedge?: boolean
  /** Only to look at: nothing is learned of it. */
  readonly dry?: boolean
}

export interface Selection {
  /** Whom to ask now, judged anew each time. */
  next(): SelectedOffer | undefined
  /** Everyone, best first, as judged at first. */
  all(): readonly [SelectedOffer, ...SelectedOffer[]]
  /** What was decided so far, and what came of it. Absent: it is not recorded. */
  readonly flight?: () => Trace
  readonly flightText?: (most: number) => string
  readonly flightSummary?: () => FlightSummary
}

export function select({ brain, contenders: contenderOf }: SelectPorts, selecting: Selecting): Selection {
  const { plan, request, inputTokens, ceilingMs } = selecting
  const { candidates } = plan
  const thoughts = thoughtsOf(request)
  let mayThink = thoughts === 'asked'
  const contenders = candidates.map(candidate => {
    mayThink ||= thoughts === 'unsaid' && thinksUnasked(candidate)
    const thinking = thoughts === 'asked' && canThink(candidate)
    return contenderOf(candidate, { rates: ratesFor(candidate, request, inputTokens), thinking })
  })
  const patience = mayThink
    ? { coldTimeoutMs: ceilingMs, leastTimeoutMs: thoughts === 'asked' ? ceilingMs : Math.min(ceilingMs, unsaidMs) }
    : {}
  const routed = brain.plan({ ...askingFor(selecting, contenders), ...patience }, contenders)
  const selected = (choice: Choice): SelectedOffer => {
    const at = contenders.findIndex(({ offer }) => offer === choice.offer)
    return { choice, candidate: candidates[at] as Candidate, contender: contenders[at] as Contender }
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
    ...(routed.flight && { flight: routed.flight }),
    ...(routed.flightText && { flightText: routed.flightText }),
    ...(routed.flightSummary && { flightSummary: routed.flightSummary }),
  }
}

export interface SelectionPorts extends SelectPorts {
  /** How the last requests were routed. */
  readonly flights: FlightBook
  readonly hooks: Hooks
  readonly logger: Logger
}

/** The selection of a request that is carried out: it is kept for those who ask why, and told to the hook. */
export function startSelection(ports: SelectionPorts, selecting: Selecting & { readonly call: CallFacts }): Selection {
  const { flights, hooks, logger } = ports
  const { call, plan } = selecting
  const selection = select(ports, selecting)
  if (hooks.onPlan) {
    const nameOf = ({ candidate: { provider, offer } }: SelectedOffer): string => `${provider.id}/${offer.provider_model_id}`
    tell(logger, 'onPlan', () => hooks.onPlan?.(call, selection.all().map(nameOf)))
  }
  const { flight } = selection
  if (flight) flights.keep(call.requestId, { flight, excluded: plan.excluded, strategy: plan.strategy })
  return selection
}

function askingFor(selecting: Selecting, contenders: readonly Contender[]): RouterRequest {
  const { plan, request, inputTokens, cacheKey, leftMs, ceilingMs, hedge = false, dry = false } = selecting
  const { prompt, routing, delivery } = request
  const rank = rankBy(selecting, contenders)
  return {
    inputTokens,
    stream: delivery === 'stream',
    preference: plan.ruling === 'order' ? 'balanced' : plan.ruling,
    deadlineMs: leftMs,
    timeoutMs: ceilingMs,
    // Without fallbacks the one candidate gets the whole time-out.
    attempts: routing.allow_fallbacks ? selecting.attempts : 1,
    hedge,
    dry,
    ...(prompt.max_output_tokens !== undefined && { maxOutputTokens: prompt.max_output_tokens }),
    ...(cacheKey !== undefined && { cacheKey }),
    ...(rank && { rank }),
  }
}

/** A model that reasons by default mostly reasons briefly: a longer silence counts as a hang. */
const unsaidMs = 30_000

/** More than anyone asks: what has no price known is not planned, and is not free. */
const unknownRates: Rates = { input: 1_000_000_000, output: 1_000_000_000 }

function ratesFor(candidate: Candidate, request: InferenceRequest, inputTokens: number): Rates {
  const price = priceFor(candidate, request)
  return price ? ratesAt(price, inputTokens) : unknownRates
}

/** Who is asked for thoughts is silent for longer. */
function thoughtsOf({ prompt: { reasoning } }: InferenceRequest): 'asked' | 'unsaid' | 'none' {
  if (reasoning?.effort === undefined) return reasoning?.budget_tokens === undefined ? 'unsaid' : 'asked'
  return reasoning.effort === 'none' ? 'none' : 'asked'
}

const canThink = ({ offer }: Candidate): boolean => offer.abilities?.includes('reasoning') ?? true

/** It is known to be able to, and nobody knows that it does not. */
const thinksUnasked = ({ offer, model }: Candidate): boolean =>
  offer.quirks?.thinks_unasked !== false && (offer.abilities?.includes('reasoning') ?? model.capabilities?.includes('reasoning') ?? false)

/** Where only the loss decides there is no rank, and somebody may be tried to learn of it; not where nobody could step in. */
function rankBy({ plan: { ranks }, request }: Selecting, contenders: readonly Contender[]): ((offer: RouterOffer) => number) | undefined {
  if (!ranks) return request.routing.allow_fallbacks ? undefined : () => 0
  const places = new Map(contenders.map(({ offer }, at) => [offer, ranks[at] ?? 0]))
  return offer => places.get(offer) ?? 0
}
