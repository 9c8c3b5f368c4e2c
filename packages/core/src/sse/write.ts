import type { Frame } from '../protocol/wire.ts'

/** Frames → text, each with its blank line. `data` is JSON, so it holds no line break; event names come from closed lists. */
export function writeFrames(frames: readonly Frame[]): string {
  let text = ''
  for (const { event, data } of frames) text += event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`
  return text
}

/** A comment: no client takes it for an event, and proxies see that the stream lives. */
export const keepAlive = ': keep-alive\n\n'
