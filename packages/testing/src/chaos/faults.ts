import type { Fault } from './expect.ts'
import { bodyFaults } from './faults-body.ts'
import { callFaults } from './faults-calls.ts'
import { connectionFaults } from './faults-connection.ts'
import { endingFaults } from './faults-endings.ts'
import { eventStreamFaults } from './faults-event-stream.ts'
import { framingFaults } from './faults-framing.ts'
import { statusFaults } from './faults-status.ts'
import { usageFaults } from './faults-usage.ts'
import { wordFaults } from './faults-words.ts'

/**
 * Rows 5 to 84 of the fault catalogue, playable by a provider, each with what a client of the gateway must receive.
 *
 * @example
 * for (const fault of faults) for (const mode of fault.applies) test(`${fault.row} ${fault.name}, ${mode}`, () => …)
 */
export const faults: readonly Fault[] = [
  ...connectionFaults,
  ...statusFaults,
  ...bodyFaults,
  ...framingFaults,
  ...eventStreamFaults,
  ...callFaults,
  ...endingFaults,
  ...usageFaults,
  ...wordFaults,
]

/** The variants of one row. */
export const faultsOf = (row: number): readonly Fault[] => faults.filter(fault => fault.row === row)

export function faultNamed(name: string): Fault {
  const found = faults.find(fault => fault.name === name)
  if (!found) throw new TypeError(`There is no fault "${name}". There are: ${faults.map(fault => fault.name).join(', ')}.`)
  return found
}

/** Rows that neither a server nor an address can play. */
export const unplayable: readonly { readonly row: number; readonly name: string; readonly reason: string }[] = [
  {
    row: 16,
    name: 'HTTP/2 GOAWAY, REFUSED_STREAM',
    reason: 'The gateway speaks HTTP/1.1 to providers; there are no HTTP/2 frames to play.',
  },
  {
    row: 18,
    name: 'Proxy or egress blocked (ENETUNREACH)',
    reason: 'An unreachable network lies beyond 127.0.0.1; `brokenTransport` rejects as the system would.',
  },
  {
    row: 83,
    name: 'The answer to another user’s question',
    reason: 'It is a right answer in every respect that a gateway can see; whoever reads it would have to know the question.',
  },
]
