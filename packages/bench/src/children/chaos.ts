import { chaosProvider } from '@signalbox/testing'
import { serve } from '../ipc.ts'

/** A provider in a process of its own that breaks as the model asked for says. */
export type ChaosVerbs = {
  listen: (input: Record<string, never>) => Promise<string>
  /** Answers that are not over. */
  playing: (input: Record<string, never>) => number
}

const provider = await chaosProvider({ pace: { dripMs: 100, pingMs: 20, lateMs: 2_000, beatMs: 25 } })

serve({ listen: async () => provider.url, playing: () => provider.playing() } satisfies ChaosVerbs)
