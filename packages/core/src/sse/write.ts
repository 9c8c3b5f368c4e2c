import type { Frame } from '../protocol/wire.ts'

/**
 * Turns frames into text, each followed by a blank line. `data` is JSON, so it contains no line break; event names come from closed lists.
 */
export function writeFrames(frames: readonly Frame[]): string {
  let text = ''
  for (let at = 0; at < frames.length; at += 1) {
    const { event, data } = frames[at] as Frame
    text += event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`
  }
  return text
}

/** A comment: clients do not treat it as an event, and proxies see that the stream is alive. */
export const keepAlive = ': keep-alive\n\n'
