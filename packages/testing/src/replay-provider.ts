import { json, type Respond, streamed } from './chaos/acts.ts'
import { type ChaosProvider, chaosProvider } from './chaos-provider.ts'
import { asSse, type Recording } from './recorded.ts'

/**
 * A provider on a real socket that responds to everything with one recording, streamed or whole as requested.
 *
 * @example
 * const server = await replayProvider(recording, { pieces: [...cuts(asSse(recording), { max: 1 })][0] })
 */
export async function replayProvider(
  recording: Recording,
  options: {
    /** The stream split into these pieces, one chunk each. Default: one piece. */
    readonly pieces?: readonly Uint8Array[]
  } = {},
): Promise<ChaosProvider> {
  const respond: Respond = line => {
    if (line.stream && (recording.chunks || recording.bytes)) return streamed(options.pieces ?? [asSse(recording)])(line)
    return recording.whole ? json(recording.dialect === 'error' ? 400 : 200, recording.whole)(line) : streamed([asSse(recording)])(line)
  }
  const server = await chaosProvider()
  server.always(respond)
  return server
}
