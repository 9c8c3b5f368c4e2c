import type { Storage } from '@signalbox/storage'
import type { Caller } from '../access/caller.ts'
import type { Terms, TermsBook } from '../access/terms.ts'
import type { Brain } from '../brain/brain.ts'
import type { SchemaCache } from '../dialects/fit-schemas.ts'
import type { Won } from '../execution/call.ts'
import type { Limits, Timeouts } from '../execution/limits.ts'
import type { Drains } from '../metering/drains.ts'
import type { Paces } from '../metering/hidden-tokens.ts'
import { type Metered, meter } from '../metering/meter.ts'
import type { Settlements } from '../metering/settlements.ts'
import { priceFor } from '../metering/tier.ts'
import type { Credential } from '../protocol/provider.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Contenders } from '../routing/contenders.ts'
import { makePlan, type Planning } from '../routing/make-plan.ts'
import type { Candidate, Plan } from '../routing/plan.ts'
import { type Ending, makeEnding } from '../runtime/ending.ts'
import type { CallFacts, Clock, Hooks, Logger, MediaReader, Transport } from '../runtime/ports.ts'
import type { KeyRing } from '../runtime/seal.ts'
import { admit } from './admit.ts'
import { keepBooks } from './books.ts'
import { cacheKeyOf } from './cache-key.ts'
import { openCarried, pinned } from './carry.ts'
import type { EarlyAdmission } from './early-admission.ts'
import type { FlightBook } from './flights.ts'
import { hedges } from './hedging.ts'
import { type GrowingJournal, growingJournal } from './journal.ts'
import type { Leases } from './leases.ts'
import { learnEnd } from './lessons.ts'
import { moneyBounds } from './money-bounds.ts'
import { passageOf } from './passage.ts'
import { type CallOptions, type Reply, replyOf } from './reply.ts'
import type { Retention } from './retention.ts'
import { allowanceOf, runningLimit } from './running-cost.ts'
import type { Sharing } from './sharing.ts'
import type { Place } from './slots.ts'
import { type Known, stamper } from './stamp.ts'
import { underOwnTerms } from './terms.ts'
import { type Tries, tryAll } from './try-all.ts'

/** Everything that a request meets on its way. */
export interface Engine {
  /** What workspaces lay down for their calls. */
  readonly terms: TermsBook
  readonly planning: Planning
  /** Judges whom to ask, and learns of each call. */
  readonly brain: Brain
  readonly contenders: Contenders
  /** How the last requests were routed. */
  readonly flights: FlightBook
  /** Of what is recorded, the share that usage rows keep. */
  readonly storedShare: number
  /** Two may be asked at once where a request does not say. */
  readonly hedge: boolean
  /** USD that a second call beside a silent one may cost. */
  readonly hedgeMaxCost: number
  readonly storage: Storage
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
  readonly hooks: Hooks
  readonly timeouts: Timeouts
  readonly limits: Limits
  /** Seals the reasoning state that callers carry. */
  readonly ring: KeyRing
  /** Absent: images and files at addresses are not read for anyone. */
  readonly media?: MediaReader | undefined
  readonly prepare?: (request: InferenceRequest, caller: Caller) => InferenceRequest | Promise<InferenceRequest>
  /** Requests under way; a closing gateway ends them through this. */
  readonly live: Set<Live>
  /** Of the workspace whose call it is, by provider id. */
  readonly refusedKeys?: Terms['refusedKeys'] | undefined
  /** A credential of a workspace's own is not what its provider takes. */
  readonly onCredentialRefused?: ((workspaceId: string, credential: Credential) => void) | undefined
  /** The headers of an answer to a credential of a workspace's own, where they tell of its limits. */
  readonly onOwnAnswer?: ((candidate: Candidate, header: (name: string) => string | undefined) => void) | undefined
  /** Credit has gone down, or did not suffice, of a workspace that reloads it. */
  readonly onSpent?: ((workspaceId: string) => void) | undefined
  /** Schemas as providers take them, of the last requests. */
  readonly schemas: SchemaCache
  readonly leases: Leases
  readonly settlements: Settlements
  readonly retention: Retention
  /** Absent: nobody else is told what is learned. */
  readonly sharing?: Sharing | undefined
  /** Answers that are read on after their client has left. */
  readonly drains: Drains
  /** How fast offers write. */
  readonly paces: Paces
  /** What follows settlements: hooks, reloads. A closing gateway waits for it. */
  readonly pending: Set<Promise<void>>
}

/** A request under way, as a closing gateway sees it. */
export interface Live {
  readonly ending: Ending
  /** Closes its books, though nobody reads it to its end. */
  leave(): Promise<void>
  /** Where it has a slot under its id, once it has been admitted. */
  places: readonly Place[]
  /** Of its hold; from the admission on. */
  journal?: () => string
  /** Monotonic milliseconds: when its hold is to be renewed. Absent: it has none yet. */
  holdDueAt?: number
  readonly requestId: string
}

/** A request's whole life, in order. Read this page first. */
export function infer(house: Engine, asked: InferenceRequest, options: CallOptions & { readonly requestId: string }): Reply {
  const { clock } = house
  const { caller, requestId, admission, waitUntil } = options
  const at = clock.now()
  const startedAt = clock.monotonic()
  const stamp = stamper({ requestId, modelAsked: asked.routing.models[0], at })
  let known: Known = { warnings: [] }
  const { ending, letGo, lease, unlease } = followCaller(house, options, () => opened)

  const run = async (): Promise<Metered> => {
    const { workspaceId } = caller
    const { engine, terms, request } = await underOwnTerms(house, asked, caller)
    const { keyId, ancestors } = caller
    const call: CallFacts = { requestId, workspaceId, keyId, ...(ancestors && { ancestors }), model: asked.routing.models[0] }
    const deadlineMs = request.routing.deadline_ms ?? engine.timeouts.deadlineMs
    const { prompt } = request
    const bounds = moneyBounds({ terms, caller, prompt, usualOutput: engine.limits.maxOutputTokens })
    const inputTokens = bounds.size.likely
    const opening = openCarried(request, workspaceId, engine.ring)
    const carried = opening && (await opening)
    const able = makePlan(request, inputTokens, pinned(engine.planning, carried)) // 404 unknown model, 400 nobody can serve this
    const hedge = hedges(engine, request)
    const cacheKey = cacheKeyOf({ request, plan: able, inputTokens, workspaceId })
    const recalling = engine.sharing?.recall(cacheKey)
    // 429 too fast or too many, 402 cannot be paid for
    const journal = journalOf(call, { request, plan: able, at })
    const asking = { requestId, caller, terms, plan: able, inputTokens, bounds, request, hedge, at, admission, journal }
    const ticket = await admit(asking, engine)
    const { plan } = ticket
    lease(ticket.places, journal)
    admission?.take()
    if (recalling) await recalling
    const tries: Tries = { count: 0, accepted: [] }
    const allowance = allowanceOf(requestId, ticket.held, { ledger: engine.storage.ledger, logger: engine.logger })
    const books = keepBooks(engine, { call, terms, request, plan, ticket, bounds, allowance, inputTokens, at, startedAt, tries, waitUntil })
    journal.progress = () => tries.asked && books.progress(tries.asked, { characters: 0 })
    let won: Won | undefined
    try {
      const within = { startedAt, deadlineAt: startedAt + deadlineMs }
      const winner = await tryAll(engine, { call, request, plan, inputTokens, bounds, cacheKey, hedge, carried, ending, tries, ...within })
      won = winner
      known = { candidate: winner.candidate, strategy: plan.strategy, warnings: winner.warnings }
      const { through, warnings } = passageOf(engine, { request, won: winner, workspaceId, cap: bounds.sentCap(winner.candidate) })
      const { events } = winner
      const running =
        'cut' in events ? runningLimit({ allowance, price: priceFor(winner.candidate, request), inputTokens, cut: events.cut }) : undefined
      const metered = meter(events, { clock, through, running, drains: 'cut' in events ? engine.drains : undefined }, async seen => {
        unlease()
        const closed = await books.close({ ...winner, warnings: warnings() }, seen, ending.why === 'client_left')
        known = { ...known, ...closed, warnings: warnings() }
        letGo()
        return closed.usage
      })
      journal.progress = () => books.progress(winner.candidate, metered.seen())
      return metered
    } catch (error) {
      if (won) {
        learnEnd(engine.brain, won, {})
        // Nobody will read it to its end.
        won.events.return?.().catch(() => {})
      }
      unlease()
      await books.release(error, ending.why === 'client_left')
      throw error
    }
  }

  const opened = admission ? orLeave(run(), admission) : run()
  opened.catch(letGo)
  return replyOf(opened, { stamp: () => stamp(known), ending })
}

/** A call that fails before it has taken the slot over gives it back, before anyone learns that it failed. */
const orLeave = <T>(opened: Promise<T>, admission: EarlyAdmission): Promise<T> =>
  opened.catch(async (error: unknown) => {
    await admission.leave()
    throw error
  })

const journalOf = (
  { workspaceId, keyId, ancestors, model }: CallFacts,
  { request, plan, at }: { readonly request: InferenceRequest; readonly plan: Plan; readonly at: number },
): GrowingJournal =>
  growingJournal({
    workspaceId,
    keyId,
    ...(ancestors && { ancestors: ancestors.map(above => ({ keyId: above.keyId })) }),
    at,
    modelAsked: model,
    model: plan.candidates[0].model.id,
    strategy: plan.strategy,
    streamed: request.delivery === 'stream',
    metadata: request.metadata,
  })

interface Following {
  readonly ending: Ending
  readonly letGo: () => void
  readonly lease: (places: readonly Place[], journal: GrowingJournal) => void
  readonly unlease: () => void
}

/** One ending for the request: the caller leaves, or a closing gateway will wait no longer. */
function followCaller(
  { live, leases, sharing, clock }: Engine,
  { signal: caller, requestId }: Pick<CallOptions, 'signal'> & { readonly requestId: string },
  opened: () => Promise<Metered>,
): Following {
  const ending = makeEnding()
  const follow = (): void => ending.end('client_left')
  if (caller?.aborted) follow()
  else caller?.addEventListener('abort', follow, { once: true })
  const entry: Live = {
    ending,
    requestId,
    places: [],
    leave: () =>
      opened().then(
        metered => metered.leave(),
        () => {},
      ),
  }
  live.add(entry)
  const lease = (places: readonly Place[], journal: GrowingJournal): void => {
    entry.places = places
    entry.journal = journal.write
    // Soon, since by then a provider has been asked; most requests are over before.
    entry.holdDueAt = clock.monotonic() + 1
    leases.begin()
    sharing?.begin()
  }
  // Before the books are closed: a slot that was given back must not be renewed in between.
  const unlease = (): void => {
    entry.places = []
  }
  const letGo = (): void => {
    live.delete(entry)
    if (live.size === 0) {
      leases.end()
      sharing?.end()
    }
    caller?.removeEventListener('abort', follow)
  }
  return { ending, letGo, lease, unlease }
}

export const endForShutdown = (live: Iterable<Live>): void => {
  for (const { ending } of live) ending.end('shut_down')
}
