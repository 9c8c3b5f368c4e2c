import { builtInDialects, type Fault } from '../src/chaos/expect.ts'
import { describeCatalogue } from './catalogue.ts'

// Rows 5 to 84 of the fault catalogue over real sockets, in the Responses dialect or, where that cannot play them, in another one. Slow
// faults, those with their own connection and the other dialects are in other files.

const isMet = ({ needs, hangs }: Fault): boolean => needs === undefined && !hangs

describeCatalogue(['responses'], isMet)
describeCatalogue(builtInDialects, fault => isMet(fault) && !fault.dialects.includes('responses'))
