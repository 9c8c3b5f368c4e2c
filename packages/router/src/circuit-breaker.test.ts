import { expect, test } from 'vitest'
import { cancelTrial, isCircuitClosed, makeCircuitBreaker, openMs, recordFailure, recordSuccess, startTrial } from './circuit-breaker.ts'

const often = { failing: 0.2, chance: 0.5 }
const mostly = { failing: 0.6, chance: 0.5 }

const opened = (by = often, times = 4) => {
  const circuit = makeCircuitBreaker()
  for (let at = 0; at < times; at += 1) recordFailure(circuit, 0, by)
  return circuit
}

test('it opens at the fourth consecutive failure, and at the second of an offer that usually fails', () => {
  expect([3, 4].map(times => isCircuitClosed(opened(often, times)))).toEqual([true, false])
  expect([1, 2].map(times => isCircuitClosed(opened(mostly, times)))).toEqual([true, false])
})

test('a success in between resets the count', () => {
  const circuit = opened(often, 3)
  recordSuccess(circuit)
  for (let at = 0; at < 3; at += 1) recordFailure(circuit, 0, often)
  expect(isCircuitClosed(circuit)).toBe(true)
})

test('the first pause is two seconds, spread by a fifth either way', () => {
  expect([0, 0.5, 1].map(chance => Math.round(openMs(opened({ failing: 0.2, chance }), 0)))).toEqual([1_600, 2_000, 2_400])
})

test('each failed trial makes the pause longer, up to 25 seconds', () => {
  const circuit = opened()
  const pauses: number[] = []
  for (let at = 0; at < 8; at += 1) {
    pauses.push(openMs(circuit, circuit.openUntil - 1) > 0 ? circuit.openUntil : 0)
    startTrial(circuit)
    recordFailure(circuit, circuit.openUntil, often)
  }
  const lasted = pauses.map((until, at) => until - (pauses[at - 1] ?? 0))
  expect(lasted.map(Math.round)).toEqual([2_000, 3_600, 6_480, 11_664, 20_995, 25_000, 25_000, 25_000])
})

test('a failure of a call sent before the pause does not make it longer', () => {
  const circuit = opened()
  recordFailure(circuit, 1_999, often)
  expect(circuit.openUntil).toBe(2_000)
})

test('after a pause one call at a time is sent', () => {
  const circuit = opened()
  expect([openMs(circuit, 500), openMs(circuit, 2_000)]).toEqual([1_500, 0])
  startTrial(circuit)
  expect(openMs(circuit, 2_500)).toBe(2_000)
  cancelTrial(circuit)
  expect(openMs(circuit, 2_500)).toBe(0)
})

test('two successes close it, and a failure in between resets their count', () => {
  const circuit = opened()
  recordSuccess(circuit)
  expect(isCircuitClosed(circuit)).toBe(false)
  recordFailure(circuit, circuit.openUntil, often)
  recordSuccess(circuit)
  expect(isCircuitClosed(circuit)).toBe(false)
  recordSuccess(circuit)
  expect(isCircuitClosed(circuit)).toBe(true)
})

test('after a recovery the next pause is the shortest again', () => {
  const circuit = opened()
  recordFailure(circuit, circuit.openUntil, often)
  recordSuccess(circuit)
  recordSuccess(circuit)
  for (let at = 0; at < 4; at += 1) recordFailure(circuit, 100_000, often)
  expect(openMs(circuit, 100_000)).toBe(2_000)
  recordSuccess(circuit)
  expect(isCircuitClosed(circuit)).toBe(false)
})

test('a closed circuit does not wait for a running call', () => {
  const circuit = makeCircuitBreaker()
  startTrial(circuit)
  expect([circuit.trialRunning, openMs(circuit, 5)]).toEqual([false, 0])
})
