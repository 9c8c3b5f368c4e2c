import type { Fault } from '../src/chaos/expect.ts'
import { faults } from '../src/chaos/faults.ts'
import { chatCaller, messagesCaller } from './callers.ts'
import { describeCatalogue } from './catalogue.ts'

// The same ends in the words of other clients: of each row one fault, called from the other two inference endpoints, with a
// provider of the caller's own language and one of another.

/** Sizes are a matter of how providers are read, not of how callers are told. */
const sizes: ReadonlySet<number> = new Set([44, 65])
/** The first of each row that neither waits nor asks for anything. */
const sample: ReadonlySet<Fault> = new Set(
  faults
    .filter(
      ({ row, needs, hangs, asks, deadlineMs }) =>
        !sizes.has(row) && needs === undefined && !hangs && asks === undefined && deadlineMs === undefined,
    )
    .filter((fault, _, all) => all.find(({ row }) => row === fault.row) === fault),
)
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
const wanted = (fault: Fault): boolean => sample.has(fault) || besides.has(fault.name)

describeCatalogue(['chat', 'gemini'], wanted, { caller: chatCaller })
describeCatalogue(['messages', 'bedrock'], wanted, { caller: messagesCaller })
