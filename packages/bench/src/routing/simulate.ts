import {
  type Preference,
  preferences,
  type Router,
  type RouterAttempt,
  type RouterChoice,
  type RouterOffer,
  type RouterPlan,
} from '@signalbox/router'
import { bill } from './bill.ts'
import { createEvents, type Events } from './events.ts'
import { favourites } from './fault-targets.ts'
import { createTally, type Figures, type Tally } from './figures.ts'
import { oracle } from './oracle.ts'
import type { Policy } from './policy.ts'
import { type Asked, makeRequests } from './requests.ts'
import { createReality, type Fate, type Reality } from './true-state.ts'
import type { TrueOffer, World } from './world.ts'

export interface Run {
  readonly seed: number
  /** Default: the world's. */
  readonly minutes?: number
  /** Requests per second. Default: the world's. */
  readonly rate?: number
  /** Default: `balanced`. */
  readonly preference?: Preference
  /** Whether a second offer may be called while the first is silent. Default: false. */
  readonly hedge?: boolean
}

/** To first content of a stream, or to the end of a whole response. */
const deadlineMs = { stream: 20_000, whole: 90_000 } as const
const attempts = 4

/**
 * Runs a policy on a world's requests, in chronological order and concurrently, and returns the results. The same run of the same world
 * gives the same figures, and two policies meet the same requests and random events.
 * @example simulate(worlds.calm, policies.random, { seed: 1, minutes: 10 }).meanLoss
 */
export function simulate(world: World, policy: Policy, run: Run): Figures {
  return simulateWith(world, policy, run).figures
}

/** As `simulate`, and also returns the router in its final state. */
export function simulateWith(world: World, policy: Policy, run: Run): { readonly figures: Figures; readonly router: Router } {
  const { seed, minutes = world.minutes, rate = world.rate, preference = 'balanced', hedge = false } = run
  const worth = preferences[preference]
  const faults = world.faults({ seed, minutes, favourites: () => favouritesIn(world, { seed, minutes, rate, preference }) })
  const reality = createReality(world, { seed, minutes, faults })
  const requests = makeRequests(world, { seed, minutes, rate })
  const events = createEvents()
  const clock = { nowMs: 0 }
  const offers = world.offers.map(asSeen)
  const router = policy.create({ offers, preference, worth, seed, now: () => clock.nowMs, reality })
  const indexOf = new Map(offers.map((offer, index) => [offer.id, index]))
  const tally = createTally({ requests, worth })
  const scene: Scene = { world, reality, events, router, tally, clock, hedge, offerOf: choice => indexOf.get(choice.offer.id) ?? 0 }
  for (const asked of requests) {
    passTime(scene, asked.atMs)
    clock.nowMs = asked.atMs
    arrive(scene, asked)
  }
  passTime(scene, Number.POSITIVE_INFINITY)
  return { figures: tally.figures(), router }
}

const calmMinutes = 15
const calmRate = 4
const found = new WeakMap<World, Map<string, readonly number[]>>()

/** Cached by run, because it is the same for every policy. */
function favouritesIn(world: World, { seed, minutes, rate, preference }: Required<Omit<Run, 'hedge'>>): readonly number[] {
  const run = { seed, minutes: Math.min(minutes, calmMinutes), rate: Math.min(rate, calmRate), preference }
  const key = Object.values(run).join()
  const ofWorld = found.get(world) ?? new Map<string, readonly number[]>()
  found.set(world, ofWorld)
  const known = ofWorld.get(key)
  if (known) return known
  const calls = simulate({ ...world, faults: () => [] }, oracle, run).calls
  const best = favourites(world, preferences[preference], calls)
  ofWorld.set(key, best)
  return best
}

const asSeen = ({ id, price, cacheMs }: TrueOffer): RouterOffer => ({ id, price, cacheMs })

interface Scene {
  readonly world: World
  readonly reality: Reality
  readonly events: Events
  readonly router: Router
  readonly tally: Tally
  readonly clock: { nowMs: number }
  readonly hedge: boolean
  readonly offerOf: (choice: RouterChoice) => number
}

/** A running request. */
interface Journey {
  readonly asked: Asked
  readonly plan: RouterPlan
  readonly endsMs: number
  /** Calls that are running or about to be sent. */
  open: number
  readonly lines: Line[]
  over: boolean
  readonly timesAsked: Map<number, number>
}

interface Line {
  readonly attempt: RouterAttempt
  readonly offer: number
  readonly fate: Fate
  /** Whether its further events no longer matter. */
  closed: boolean
}

function passTime({ events, clock }: Scene, untilMs: number): void {
  for (let nextMs = events.nextMs(); nextMs < untilMs || (nextMs === untilMs && Number.isFinite(nextMs)); nextMs = events.nextMs()) {
    clock.nowMs = nextMs
    events.happen()
  }
}

function arrive(scene: Scene, asked: Asked): void {
  const limitMs = asked.stream ? deadlineMs.stream : deadlineMs.whole
  const plan = scene.router.plan({
    inputTokens: asked.inputTokens,
    stream: asked.stream,
    deadlineMs: limitMs,
    maxAttempts: attempts,
    hedge: scene.hedge,
    ...(asked.session === undefined ? {} : { cacheKey: asked.session }),
  })
  askNext(scene, { asked, plan, endsMs: asked.atMs + limitMs, open: 0, lines: [], over: false, timesAsked: new Map() })
}

function askNext(scene: Scene, journey: Journey): void {
  const { clock, events, tally } = scene
  const choice = clock.nowMs < journey.endsMs && tally.attemptsOf(journey.asked) < attempts ? journey.plan.next() : undefined
  if (!choice) {
    if (journey.open === 0) fail(scene, journey)
    return
  }
  journey.open += 1
  if (choice.waitMs <= 0) send(scene, journey, choice)
  else events.at(Math.min(clock.nowMs + choice.waitMs, journey.endsMs), () => sendLater(scene, journey, choice))
}

function sendLater(scene: Scene, journey: Journey, choice: RouterChoice): void {
  if (journey.over) return
  if (scene.clock.nowMs < journey.endsMs) {
    send(scene, journey, choice)
    return
  }
  journey.open -= 1
  askNext(scene, journey)
}

function send(scene: Scene, journey: Journey, choice: RouterChoice): void {
  const { clock, events, reality, router, tally } = scene
  const { asked } = journey
  const offer = scene.offerOf(choice)
  const again = journey.timesAsked.get(offer) ?? 0
  journey.timesAsked.set(offer, again + 1)
  tally.sent(asked, offer)
  const fate = reality.call({ offer, asked, again, atMs: clock.nowMs })
  const line: Line = { attempt: router.startAttempt(choice), offer, fate, closed: false }
  journey.lines.push(line)
  follow(scene, journey, line)
  const leftMs = journey.endsMs - clock.nowMs
  // A deadline is the client's limit: its passing says less about an offer than a timeout of the policy.
  const failed = choice.timeoutMs > leftMs ? ({ kind: 'timeout', chosen: true } as const) : ({ kind: 'timeout' } as const)
  events.at(clock.nowMs + Math.min(choice.timeoutMs, leftMs), () => giveUp(scene, journey, { line, failed }))
  if (!scene.hedge || choice.hedgeAfterMs === undefined) return
  events.at(clock.nowMs + choice.hedgeAfterMs, () => {
    if (!line.closed && !journey.over && journey.open === 1) askNext(scene, journey)
  })
}

function follow(scene: Scene, journey: Journey, line: Line): void {
  const { events, tally } = scene
  const { fate } = line
  if (fate.kind === 'hang') return
  if (fate.kind === 'limited') {
    const told = fate.retryAfterMs === undefined ? {} : { retryAfterMs: fate.retryAfterMs }
    events.at(fate.atMs, () => {
      if (line.closed) return
      tally.limited()
      readHeaders(scene, line)
      lose(scene, journey, { line, failed: { kind: 'rate_limited', ...told } })
    })
  } else if (fate.kind === 'error') events.at(fate.atMs, () => lose(scene, journey, { line, failed: { kind: 'error' } }))
  else if (journey.asked.stream) events.at(fate.firstMs, () => stream(scene, journey, { line, fate }))
  else if (fate.brokenMs !== undefined) events.at(fate.brokenMs, () => lose(scene, journey, { line, failed: { kind: 'error' } }))
  else events.at(fate.endMs, () => answerWhole(scene, journey, { line, fate }))
}

interface Answer {
  readonly line: Line
  readonly fate: Extract<Fate, { kind: 'answer' }>
}

/** First content of a stream: no other offer is called from here on. */
function stream(scene: Scene, journey: Journey, { line, fate }: Answer): void {
  const { events, router, tally } = scene
  if (line.closed || journey.over) return
  win(scene, journey, line)
  router.recordFirstContent(line.attempt)
  const growingMs = (fate.brokenMs ?? fate.endMs) - fate.firstMs
  tally.heard(journey.asked, fate.firstMs)
  events.at(fate.firstMs + growingMs, () => {
    const share = fate.brokenMs === undefined ? 1 : growingMs / (fate.endMs - fate.firstMs)
    pay(scene, journey, { line, fate, share })
    tally.grew(journey.asked, growingMs)
    if (fate.brokenMs === undefined) {
      tally.served(journey.asked)
      router.finishAttempt(line.attempt, { outputTokens: journey.asked.outputTokens, cachedTokens: fate.cached })
    } else {
      tally.failed(journey.asked, fate.firstMs)
      router.failAttempt(line.attempt, { kind: 'error' })
    }
  })
}

function answerWhole(scene: Scene, journey: Journey, { line, fate }: Answer): void {
  const { router, tally } = scene
  if (line.closed || journey.over) return
  win(scene, journey, line)
  pay(scene, journey, { line, fate, share: 1 })
  tally.heard(journey.asked, fate.firstMs)
  tally.grew(journey.asked, fate.endMs - fate.firstMs)
  tally.served(journey.asked)
  router.finishAttempt(line.attempt, { outputTokens: journey.asked.outputTokens, cachedTokens: fate.cached })
}

function win(scene: Scene, journey: Journey, line: Line): void {
  journey.over = true
  line.closed = true
  scene.reality.read(line.offer, journey.asked, scene.clock.nowMs)
  readHeaders(scene, line)
  for (const other of journey.lines) {
    if (other.closed) continue
    other.closed = true
    payCancelled(scene, journey, other)
    scene.router.abandonAttempt(other.attempt)
  }
}

function giveUp(scene: Scene, journey: Journey, loss: Loss): void {
  if (loss.line.closed || journey.over) return
  payCancelled(scene, journey, loss.line)
  lose(scene, journey, loss)
}

interface Loss {
  readonly line: Line
  readonly failed: Parameters<Router['failAttempt']>[1]
}

function lose(scene: Scene, journey: Journey, { line, failed }: Loss): void {
  if (line.closed || journey.over) return
  line.closed = true
  scene.router.failAttempt(line.attempt, failed)
  journey.open -= 1
  if (journey.open === 0) askNext(scene, journey)
}

function fail({ tally, clock }: Scene, journey: Journey): void {
  journey.over = true
  tally.failed(journey.asked, clock.nowMs)
}

function readHeaders({ reality, router, world, clock }: Scene, { offer }: Line): void {
  const seen = reality.headroom(offer, clock.nowMs)
  const id = world.offers[offer]?.id
  if (seen && id !== undefined) router.updateHeadroom(id, seen)
}

function pay(scene: Scene, { asked }: Journey, { line, fate, share }: Answer & { readonly share: number }): void {
  const offer = scene.world.offers[line.offer]
  if (!offer) return
  const consumed = { input: asked.inputTokens, cached: fate.cached, output: asked.outputTokens * share, keyed: asked.session !== undefined }
  scene.tally.paid(asked, bill(offer, consumed))
  scene.tally.read(asked.inputTokens, fate.cached)
}

/** The cost of a cancelled call: some providers charge for its prompt nevertheless. */
function payCancelled(scene: Scene, { asked }: Journey, { offer, fate }: Line): void {
  const sold = scene.world.offers[offer]
  if (fate.kind !== 'answer' || !sold?.billsCancelled) return
  const consumed = { input: asked.inputTokens, cached: fate.cached, output: 0, keyed: asked.session !== undefined }
  scene.tally.paid(asked, bill(sold, consumed))
}
