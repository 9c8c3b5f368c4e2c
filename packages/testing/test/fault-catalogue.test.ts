import { inject } from 'vitest'
import { describeCatalogue, firstOfEachRow } from './catalogue.ts'

// Rows 5 to 84 of the fault catalogue over real sockets; slow faults and those with their own connection are in other files.

// The usual run meets every fault in one dialect, one of each row whole and streamed, and in the other dialect too. With another provider behind, it meets one fault of each row.

describeCatalogue(['responses', 'chat'], ({ needs, hangs }) => needs === undefined && !hangs, {
  isThorough: true,
  elsewhere: fault => firstOfEachRow.has(fault),
  withFallback: fault => inject('isLongRun') || firstOfEachRow.has(fault),
})
