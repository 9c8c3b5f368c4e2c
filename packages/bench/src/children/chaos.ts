import { chaosProvider } from '@signalbox/testing'
import { serve } from '../ipc.ts'

/** A provider in a separate process that fails as the requested model says. */
export type ChaosVerbs = {
  listen: (input: Record<string, never>) => Promise<string>
  /** Number of unfinished responses. */
  unfinished: (input: Record<string, never>) => number
}

const provider = await chaosProvider({ pace: { dripMs: 100, pingMs: 20, lateMs: 2_000, beatMs: 25 } })

serve({ listen: async () => provider.url, unfinished: () => provider.unfinished() } satisfies ChaosVerbs)
