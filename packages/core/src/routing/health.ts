import { LRUCache } from 'lru-cache'
import type { Headroom } from '../protocol/headroom.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Candidate } from './plan.ts'

/** What we have seen of an offer lately: averages that forget. */
export interface Health {
  /** To first content. */
  readonly latencyMs: number
  readonly tokensPerSecond: number
  /** 0 to 1. */
  readonly errorRate: number
  /** What is left of the provider's rate limit, 0 to 1; 1 where nobody said. */
  readonly headroom: number
}

export interface HealthBook {
  of(candidate: Candidate): Health
  /** Monotonic milliseconds until which the candidate asked to be left alone; 0: it did not. */
  coolUntil(candidate: Candidate): number
  answered(candidate: Candidate, seen: { readonly latencyMs: number; readonly tokensPerSecond?: number }): void
  failed(candidate: Candidate): void
  /** What the provider's headers say of its limits; holds until they are full again. Nothing left: the candidate waits so long. */
  headroom(candidate: Candidate, seen: Headroom): void
  /** Never shortens an earlier wait. */
  cool(candidate: Candidate, milliseconds: number): void
}

const unseen: Health = { latencyMs: 1_000, tokensPerSecond: 50, errorRate: 0, headroom: 1 }
/** The weight of one new observation. */
const pace = 0.2
const mostCandidates = 10_000

const blend = (old: number, seen: number): number => old + pace * (seen - old)

const candidateKey = ({ offer, credential }: Candidate): string => `${offer.provider}\n${offer.provider_model_id}\n${credential.id}`

/** Failures are forgotten by time, not only by good answers: who is not asked any more could give none. */
const halfLifeMs = 60_000

/** Kept per process and bounded. */
export function keepHealth(clock: Clock): HealthBook {
  const book = new LRUCache<string, Health & { readonly at: number }>({ max: mostCandidates })
  const cooling = new LRUCache<string, number>({ max: mostCandidates })
  const rooms = new LRUCache<string, { readonly share: number; readonly until: number }>({ max: mostCandidates })
  const roomOf = (key: string): number => {
    const room = rooms.size === 0 ? undefined : rooms.get(key)
    return room && room.until > clock.monotonic() ? room.share : 1
  }
  const of = (candidate: Candidate): Health => {
    const key = candidateKey(candidate)
    const seen = book.get(key)
    const headroom = roomOf(key)
    if (!seen) return headroom === 1 ? unseen : { ...unseen, headroom }
    if (seen.errorRate === 0 && headroom === seen.headroom) return seen
    return { ...seen, headroom, errorRate: seen.errorRate * 0.5 ** ((clock.monotonic() - seen.at) / halfLifeMs) }
  }
  const cool = (key: string, milliseconds: number): void => {
    cooling.set(key, Math.max(cooling.get(key) ?? 0, clock.monotonic() + milliseconds))
  }
  return {
    of,
    coolUntil: candidate => (cooling.size === 0 ? 0 : (cooling.get(candidateKey(candidate)) ?? 0)),
    answered(candidate, { latencyMs, tokensPerSecond }) {
      const old = of(candidate)
      book.set(candidateKey(candidate), {
        latencyMs: blend(old.latencyMs, latencyMs),
        tokensPerSecond: tokensPerSecond === undefined ? old.tokensPerSecond : blend(old.tokensPerSecond, tokensPerSecond),
        errorRate: blend(old.errorRate, 0),
        headroom: 1,
        at: clock.monotonic(),
      })
    },
    failed(candidate) {
      const old = of(candidate)
      book.set(candidateKey(candidate), { ...old, errorRate: blend(old.errorRate, 1), headroom: 1, at: clock.monotonic() })
    },
    headroom(candidate, { share, resetsInMs }) {
      const key = candidateKey(candidate)
      rooms.set(key, { share, until: clock.monotonic() + resetsInMs })
      if (share === 0) cool(key, resetsInMs)
    },
    cool: (candidate, milliseconds) => cool(candidateKey(candidate), milliseconds),
  }
}
