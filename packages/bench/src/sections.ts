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

interface Listed {
  readonly run: Section
  /** The page in docs/ that shows it. */
  readonly page?: string
  /** Whether it only runs by name, because it needs the network or servers. Default: false. */
  readonly onlyIfNamed?: boolean
}

/** Every section by name. `pnpm bench` without names runs those that have a page. */
export const sections: Readonly<Record<string, Listed>> = {
  counts: { run: counts, page: 'performance' },
  walk: { run: walk, page: 'architecture' },
  relay: { run: relay, page: 'performance' },
  peers: { run: peers, page: 'performance', onlyIfNamed: true },
  streams: { run: streams, page: 'performance' },
  translate: { run: translate, page: 'performance' },
  codecs: { run: codecs, page: 'performance' },
  image: { run: image, page: 'performance' },
  routing: { run: routing, page: 'routing' },
  constants: { run: constants, page: 'routing-constants' },
  analytics: { run: analytics, page: 'performance' },
  storage: { run: storage, page: 'scale', onlyIfNamed: true },
  growth: { run: growth, page: 'scale', onlyIfNamed: true },
  soak: { run: soak },
  workers: { run: workers },
  profile: { run: profile },
  allocations: { run: allocations },
  promoted: { run: promoted },
  held: { run: held },
}
