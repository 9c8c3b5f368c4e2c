import { allocations, held, promoted } from './allocations.ts'
import { halves } from './halves.ts'
import { image } from './image.ts'
import type { Kind } from './lab.ts'
import { profile } from './profile.ts'
import { relay } from './relay.ts'
import { streams } from './streams.ts'
import { translate } from './translate.ts'

export interface Options {
  /** Fewer requests and rounds; the figures are for a glance and are not written to the page. */
  readonly quick: boolean
  /** Only cases whose title holds every one of these words. */
  readonly only: readonly string[]
  /** The one that `profile`, `allocations` and `held` look into. */
  readonly server: Kind
}

/** Measures, and returns what it found as Markdown. */
export type Section = (options: Options) => Promise<string>

/** Every section by name. `pnpm bench` runs those that are published on docs/performance.md. */
export const sections: Readonly<Record<string, { readonly run: Section; readonly published: boolean }>> = {
  relay: { run: relay, published: true },
  streams: { run: streams, published: true },
  translate: { run: translate, published: true },
  halves: { run: halves, published: true },
  image: { run: image, published: true },
  profile: { run: profile, published: false },
  allocations: { run: allocations, published: false },
  promoted: { run: promoted, published: false },
  held: { run: held, published: false },
}
