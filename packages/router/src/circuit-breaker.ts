import { tuning } from './constants.ts'

// A circuit breaker. An offer that fails several times in a row is paused, longer each time; then single trial calls show whether it has
// recovered.

const { failuresToOpen, failuresToOpenUnreliable, firstPauseMs, pauseGrowth, maxPauseMs, successesToClose } = tuning.circuitBreaker

export interface CircuitBreaker {
  /** Consecutive failures. */
  consecutiveFailures: number
  /** Monotonic milliseconds until which no call is sent; 0 if the circuit is closed. */
  openUntil: number
  /** How often it opened since it was last closed. */
  openings: number
  /** Successful trials since it opened. */
  successes: number
  /** A trial call is running. */
  trialRunning: boolean
}

export const makeCircuitBreaker = (): CircuitBreaker => ({
  consecutiveFailures: 0,
  openUntil: 0,
  openings: 0,
  successes: 0,
  trialRunning: false,
})

export const isCircuitClosed = ({ openUntil }: CircuitBreaker): boolean => openUntil === 0

/** Milliseconds until the offer may be called; 0 also if the next trial may be sent. */
export const openMs = ({ openUntil, trialRunning }: CircuitBreaker, now: number): number => {
  if (openUntil === 0) return 0
  if (now < openUntil) return openUntil - now
  return trialRunning ? firstPauseMs : 0
}

export function startTrial(circuit: CircuitBreaker): void {
  if (circuit.openUntil > 0) circuit.trialRunning = true
}

export function recordSuccess(circuit: CircuitBreaker): void {
  circuit.consecutiveFailures = 0
  circuit.trialRunning = false
  if (circuit.openUntil === 0) return
  circuit.successes += 1
  if (circuit.successes < successesToClose) return
  circuit.openUntil = 0
  circuit.successes = 0
  circuit.openings = 0
}

/** Records a failure. `failing`: the offer's estimated failure probability. */
export function recordFailure(
  circuit: CircuitBreaker,
  now: number,
  { failing, chance }: { readonly failing: number; readonly chance: number },
): void {
  circuit.consecutiveFailures += 1
  circuit.successes = 0
  circuit.trialRunning = false
  const again = circuit.openUntil > 0
  if (again && now < circuit.openUntil) return
  if (!again && circuit.consecutiveFailures < (failing > 0.5 ? failuresToOpenUnreliable : failuresToOpen)) return
  const lasts = Math.min(maxPauseMs, firstPauseMs * pauseGrowth ** Math.min(circuit.openings, 20)) * (0.8 + 0.4 * chance)
  circuit.openUntil = now + lasts
  circuit.openings += 1
}

/** Records that a trial ended without showing whether the offer works. */
export function cancelTrial(circuit: CircuitBreaker): void {
  circuit.trialRunning = false
}
