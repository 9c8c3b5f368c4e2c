import { board } from './board.ts'
import { counts } from './counts.ts'
import { peers } from './peers.ts'
import { relay } from './relay.ts'
import { constants } from './routing/constants.ts'
import { routing } from './routing/routing.ts'
import type { Section } from './section.ts'
import { soak } from './soak.ts'
import { storage } from './storage.ts'
import { streams } from './streams.ts'
import { walk } from './walk.ts'

const results = 'RESULTS.md'

interface Listed {
  readonly what: string
  readonly run: Section
  /** The page of packages/bench that shows it. */
  readonly page?: string
}

/** Every section by name. */
export const sections: Readonly<Record<string, Listed>> = {
  counts: { what: 'promises, timers, parses and bytes of a request, against their ceilings', run: counts, page: results },
  walk: { what: 'files, functions and calls that a request passes', run: walk, page: results },
  relay: { what: 'CPU and latency of a request, against a proxy that only copies bytes', run: relay, page: results },
  peers: { what: 'CPU of a request, against another gateway, which is installed first', run: peers, page: results },
  board: { what: 'the figures of the public board “On the Bench”, beside a bare proxy and another gateway', run: board, page: results },
  streams: { what: 'memory and delay of many slow streams at once', run: streams, page: results },
  storage: { what: 'CPU and latency over PostgreSQL and Redis, which must run here', run: storage, page: results },
  routing: { what: 'cost, failures and waiting of policies in simulated hours', run: routing, page: results },
  constants: { what: 'what each constant of the router is worth', run: constants, page: 'ROUTING-CONSTANTS.md' },
  soak: { what: 'what grows in 15 minutes of mixed traffic, and what is left over', run: soak },
}
