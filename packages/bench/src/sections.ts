import { allocations, held, promoted } from './allocations.ts'
import { analytics } from './analytics.ts'
import { codecs } from './codecs.ts'
import { counts } from './counts.ts'
import { growth } from './growth.ts'
import { image } from './image.ts'
import { peers } from './peers.ts'
import { profile } from './profile.ts'
import { relay } from './relay.ts'
import { constants } from './routing/constants.ts'
import { routing } from './routing/routing.ts'
import type { Section } from './section.ts'
import { soak } from './soak.ts'
import { storage } from './storage.ts'
import { streams } from './streams.ts'
import { translate } from './translate.ts'
import { walk } from './walk.ts'
import { workers } from './workers.ts'

const results = 'RESULTS.md'

interface Listed {
  readonly run: Section
  /** The page of packages/bench that shows it. */
  readonly page?: string
  /** Whether it only runs by name, because it needs the network or servers. Default: false. */
  readonly onlyIfNamed?: boolean
}

/** Every section by name. `pnpm bench` without names runs those that have a page. */
export const sections: Readonly<Record<string, Listed>> = {
  counts: { run: counts, page: results },
  walk: { run: walk, page: results },
  relay: { run: relay, page: results },
  peers: { run: peers, page: results, onlyIfNamed: true },
  streams: { run: streams, page: results },
  translate: { run: translate, page: results },
  codecs: { run: codecs, page: results },
  image: { run: image, page: results },
  routing: { run: routing, page: results },
  constants: { run: constants, page: 'ROUTING-CONSTANTS.md' },
  analytics: { run: analytics, page: results },
  storage: { run: storage, page: results, onlyIfNamed: true },
  growth: { run: growth, page: results, onlyIfNamed: true },
  soak: { run: soak },
  workers: { run: workers },
  profile: { run: profile },
  allocations: { run: allocations },
  promoted: { run: promoted },
  held: { run: held },
}
