import { inject } from 'vitest'
import type { Fault } from '../src/chaos/expect.ts'
import { describeCatalogue, firstOfEachRow } from './catalogue.ts'

// The same in the dialects of other vendors. The default run plays one fault of each row, in one setting.

const isTried = (fault: Fault): boolean => inject('isLongRun') || firstOfEachRow.has(fault)

describeCatalogue(['messages', 'gemini', 'bedrock'], fault => fault.needs === undefined && !fault.hangs && isTried(fault))
