import type { BuiltInDialect } from '@signalbox/dialects'
import { inject } from 'vitest'
import { builtInDialects, type Fault } from '../src/chaos/expect.ts'
import { describeCatalogue, firstOfEachRow } from './catalogue.ts'

// The faults of the Responses dialect in the others: all in the long run; in the usual one the first of each row in one of them, in another
// one for each row after it.

const others = builtInDialects.filter(dialect => dialect !== 'responses')

/** `place`: of the fault among those that are played. */
const dialectOf = ({ dialects }: Fault, place: number): BuiltInDialect | undefined => {
  const possible = others.filter(dialect => dialects.includes(dialect))
  return possible[place % possible.length]
}
const played = new Map([...firstOfEachRow].filter(({ heavy }) => !heavy).map((fault, place) => [fault, dialectOf(fault, place)]))
const isMet = ({ needs, hangs, dialects }: Fault): boolean => needs === undefined && !hangs && dialects.includes('responses')

for (const dialect of others) describeCatalogue([dialect], fault => (inject('isLongRun') ? isMet(fault) : played.get(fault) === dialect))
