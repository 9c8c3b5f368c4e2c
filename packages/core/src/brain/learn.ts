import type { Affinity } from './affinity.ts'
import type { Belief, Underway } from './belief.ts'
import { broke, untried, worked } from './breaker.ts'
import { accepted, holdFor, refused } from './capacity.ts'
import { tuning } from './constants.ts'
import { countSpeed, countWait } from './counts.ts'
import { levelNow, observe, observeCut } from './latency.ts'
import type { Failed, Used } from './port.ts'
import { afterContent, beforeContent, expected, inOrderNow, note } from './rate.ts'
import { observeReading, perToken } from './reading.ts'
import { blend } from './speed.ts'

// What each thing that happens to a call teaches about its offer. A caller's own mistake teaches nothing.

/** A refused credential or an empty account comes back only by hand. */
const credentialMs = 60_000
const { minTokensForSpeed, speedWeight, wholeSpeedWeight, failureWeight, warmthWeight } = tuning.averages

export function learnContent(call: Underway, now: number): void {
  const { belief } = call.contender
  const milliseconds = now - call.startedAt
  const base = Math.max(milliseconds - perToken(belief.reading) * call.coldTokens, 0.2 * milliseconds)
  // A slow answer tells of the offer's state, not of what it takes to read a prompt.
  const usual = Math.exp(levelNow(belief.latency, now)) * 2
  observeReading(belief.reading, call.coldTokens, Math.min(milliseconds, usual + perToken(belief.reading) * call.coldTokens))
  observe(belief.latency, base, now)
  countWait(belief.counts, base)
  answered(call, now)
}

function answered({ contender: { belief }, startedAt }: Underway, now: number): void {
  belief.provenAt = Math.max(belief.provenAt, startedAt)
  note(belief.failing, beforeContent, { bad: false, now })
  worked(belief.breaker)
  accepted(belief.capacity, now)
  belief.counts.answered += 1
  belief.heard += 1
  belief.heardAt = now
}

export function learnEnd(call: Underway, used: Used, now: number): void {
  const { belief } = call.contender
  const { outputTokens = 0 } = used
  note(belief.breaking, afterContent, { bad: false, now })
  belief.counts.finished += 1
  if (call.stream) {
    const growingMs = now - (call.firstContentAt ?? now)
    if (outputTokens >= minTokensForSpeed && growingMs > 0) {
      const speed = Math.log((outputTokens * 1_000) / growingMs)
      blend(belief.speed, speed, speedWeight)
      countSpeed(belief.counts, speed)
    }
  } else {
    answered(call, now)
    learnWhole(belief, call, { outputTokens, now })
  }
  const { warmTokens } = call
  if (used.cachedTokens !== undefined && warmTokens > 0) {
    blend(belief.warmth, Math.min(1, used.cachedTokens / warmTokens), warmthWeight)
  }
}

/** A whole answer shows only its length in time; how much of that was the wait is believed from streams. */
function learnWhole(belief: Belief, call: Underway, { outputTokens, now }: { readonly outputTokens: number; readonly now: number }): void {
  if (outputTokens < minTokensForSpeed) return
  const wait = Math.exp(levelNow(belief.latency, now)) * belief.latency.tail + perToken(belief.reading) * call.coldTokens
  const milliseconds = now - call.startedAt
  const growingMs = Math.max(1, milliseconds - wait, 0.25 * milliseconds)
  blend(belief.speed, Math.log((outputTokens * 1_000) / growingMs), wholeSpeedWeight)
}

/** What a conversation's prompt was read by. */
export function learnRead({ cacheKey, contender, inputTokens }: Underway, affinity: Affinity, now: number): void {
  if (cacheKey !== undefined) affinity.read(cacheKey, { id: contender.offer.id, tokens: inputTokens, at: now })
}

interface Lesson extends Failed {
  readonly now: number
  readonly chance: number
}

/** Only a fault is held against its offer's health: a limit fills it, a refused credential rests it, a refused request says nothing. */
const lessons: Readonly<Record<Failed['kind'], (call: Underway, lesson: Lesson) => void>> = {
  error: learnFault,
  timeout: learnFault,
  rate_limited({ contender: { belief } }, { now, retryAfterMs, chance }) {
    untried(belief.breaker)
    refused(belief.capacity, now, { retryAfterMs, chance })
  },
  credential({ contender: { belief } }, { now, retryAfterMs = credentialMs }) {
    untried(belief.breaker)
    holdFor(belief.capacity, now, retryAfterMs)
  },
  refused: ({ contender: { belief } }) => untried(belief.breaker),
}

export const learnFailure = (call: Underway, lesson: Lesson): void => lessons[lesson.kind](call, lesson)

function learnFault(call: Underway, { kind, now, chance, retryAfterMs }: Lesson): void {
  const { belief } = call.contender
  belief.heard += 1
  belief.heardAt = now
  if (call.firstContentAt !== undefined || (kind === 'error' && hasProbablyBroken(call, now))) {
    untried(belief.breaker)
    note(belief.breaking, afterContent, { bad: true, now })
    belief.counts.broken += 1
    return
  }
  note(belief.failing, beforeContent, { bad: true, now })
  if (kind === 'timeout') learnCut(call, now)
  belief.counts.failed += 1
  blend(belief.hung, kind === 'timeout' ? 1 : 0, failureWeight)
  // How long a whole answer was waited for in vain says nothing of streams.
  if (call.stream || kind === 'error') blend(belief.lost, now - call.startedAt, failureWeight)
  broke(belief.breaker, now, { failing: expected(belief.failing, beforeContent, now), chance })
  if (retryAfterMs !== undefined) holdFor(belief.capacity, now, retryAfterMs)
}

/** The wait of a stream that was given up in silence would have been longer. */
function learnCut(call: Underway, now: number): void {
  const { belief } = call.contender
  if (!call.stream || call.firstContentAt !== undefined || belief.latency.seen < wellKnown) return
  const milliseconds = now - call.startedAt
  const base = Math.max(milliseconds - perToken(belief.reading) * call.coldTokens, 0.2 * milliseconds)
  // Of an offer that is out of order a silence is no slow answer.
  const hung = 1 - inOrderNow(belief.failing, beforeContent, now) * (1 - belief.failing.usual * belief.hung.value)
  observeCut(belief.latency, base, { now, hung })
}

/** Whether a whole answer failed or broke off nobody sees: it is put down to what is likelier. */
const hasProbablyBroken = ({ stream, contender: { belief } }: Underway, now: number): boolean =>
  !stream && expected(belief.breaking, afterContent, now) > expected(belief.failing, beforeContent, now)

/** Answers after which a silence can be called too long. */
const wellKnown = 10

/** Nobody waits for it any more. If it was silent for longer than nearly all its answers took, that was its fault. */
export function learnLeft(call: Underway, chance: number, now: number): void {
  const { belief } = call.contender
  const { latency } = belief
  const base = now - call.startedAt - perToken(belief.reading) * call.coldTokens
  const overdue =
    latency.seen >= wellKnown &&
    call.stream &&
    call.firstContentAt === undefined &&
    base > 1_000 &&
    Math.log(base) - levelNow(latency, now) > latency.p997
  if (!overdue) learnCut(call, now)
  if (overdue) learnFault(call, { kind: 'timeout', now, chance })
  else untried(belief.breaker)
}
