import { inject } from 'vitest'
import { builtInDialects } from '../src/chaos/expect.ts'
import { describeCatalogue, firstOfEachEnd } from './catalogue.ts'
import { webSocketCaller } from './web-socket-caller.ts'

// Streams over a WebSocket end as streams over HTTP do. The usual run meets one fault of each end.

const dialects = inject('isLongRun') ? builtInDialects : (['responses'] as const)

describeCatalogue(dialects, fault => fault.needs === undefined && !fault.hangs && (inject('isLongRun') || firstOfEachEnd.has(fault)), {
  caller: webSocketCaller,
  modes: ['stream'],
})
