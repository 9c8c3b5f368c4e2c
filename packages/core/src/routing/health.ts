import { LRUCache } from 'lru-cache'
import type { Clock } from '../runtime/ports.ts'
import type { Candidate } from './plan.ts'

/** What we have seen of an offer lately: averages that forget. */
export interface Health {
  /** To first content. */
  readonly latencyMs: number
  readonly tokensPerSecond: number
  /** 0 to 1. */
  readonly errorRate: number
}

export interface HealthBook {
  of(candidate: Candidate): Health
  /** Monotonic milliseconds until which the candidate asked to be left alone; 0: it did not. */
  coolUntil(candidate: Candidate): number
  answered(candidate: Candidate, seen: { readonly latencyMs: number; readonly tokensPerSecond?: number }): void
  failed(candidate: Candidate): void
  /** Never shortens an earlier wait. */
  cool(candidate: Candidate, milliseconds: number): void
}

const unseen: Health = { latencyMs: 1_000, tokensPerSecond: 50, errorRate: 0 }
/** The weight of one new observation. */
const pace = 0.2
const mostCandidates = 10_000

const blend = (old: number, seen: number): number => old + pace * (seen - old)

const candidateKey = ({ offer, credential }: Candidate): string => `${offer.provider}\n${offer.provider_model_id}\n${credential.id}`

/** Kept per process and bounded; an error rate halves with every good answer to come, so nobody is shunned for ever. */
export function keepHealth(clock: Clock): HealthBook {
  const book = new LRUCache<string, Health>({ max: mostCandidates })
  const cooling = new LRUCache<string, number>({ max: mostCandidates })
  const of = (candidate: Candidate): Health => book.get(candidateKey(candidate)) ?? unseen
  return {
    of,
    coolUntil: candidate => (cooling.size === 0 ? 0 : (cooling.get(candidateKey(candidate)) ?? 0)),
    answered(candidate, { latencyMs, tokensPerSecond }) {
      const old = of(candidate)
      book.set(candidateKey(candidate), {
        latencyMs: blend(old.latencyMs, latencyMs),
        tokensPerSecond: tokensPerSecond === undefined ? old.tokensPerSecond : blend(old.tokensPerSecond, tokensPerSecond),
        errorRate: blend(old.errorRate, 0),
      })
    },
    failed(candidate) {
      const old = of(candidate)
      book.set(candidateKey(candidate), { ...old, errorRate: blend(old.errorRate, 1) })
    },
    cool(candidate, milliseconds) {
      const key = candidateKey(candidate)
      cooling.set(key, Math.max(cooling.get(key) ?? 0, clock.monotonic() + milliseconds))
    },
  }
}
