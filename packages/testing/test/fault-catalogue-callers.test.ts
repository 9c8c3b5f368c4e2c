import { inject } from 'vitest'
import type { Fault } from '../src/chaos/expect.ts'
import { chatCaller, messagesCaller } from './callers.ts'
import { describeCatalogue, firstOfEachRow } from './catalogue.ts'

// The same for other client dialects: one fault of each row, called through the other two inference endpoints, with a
// provider of the client's own dialect and one of another.

/** Sizes affect how providers are read, not what clients receive. */
const sizes: ReadonlySet<number> = new Set([44, 65])
/** And these, each of which ends otherwise than the first of its row. */
const besides: ReadonlySet<string> = new Set([
  'status-403',
  'status-404',
  'retry-after-seconds',
  'error-first',
  'overload-first',
  'rate-limit-first',
  'policy-first',
  'error-after-content',
  'overload-after-content',
  'rate-limit-after-content',
  'policy-after-content',
  'invalid-json-first',
  'opening-only',
  'call-name-missing',
  'finish-length',
  'finish-content-filter',
  'secrets-in-400',
  'secrets-after-content',
])
const wanted = (fault: Fault): boolean => (firstOfEachRow.has(fault) && !sizes.has(fault.row)) || besides.has(fault.name)

// The usual run has no second provider with a provider of the client's own dialect, and one with a provider of another.
const [alone, backed] = inject('isLongRun')
  ? [
      [false, true],
      [false, true],
    ]
  : [[false], [true]]

describeCatalogue(['chat'], wanted, { caller: chatCaller, fallbacks: alone })
describeCatalogue(['gemini'], wanted, { caller: chatCaller, fallbacks: backed })
describeCatalogue(['messages'], wanted, { caller: messagesCaller, fallbacks: alone })
describeCatalogue(['bedrock'], wanted, { caller: messagesCaller, fallbacks: backed })
