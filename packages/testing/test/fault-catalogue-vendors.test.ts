import { inject } from 'vitest'
import { describeCatalogue, firstOfEachRow } from './catalogue.ts'

// The same in the languages of other vendors. With another provider behind, the usual run meets one fault of each row.

describeCatalogue(['messages', 'gemini', 'bedrock'], ({ needs, hangs }) => needs === undefined && !hangs, {
  withFallback: fault => inject('isLongRun') || firstOfEachRow.has(fault),
})
