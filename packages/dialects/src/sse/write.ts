import type { Frame } from '../protocol/wire.ts'

/**
 * Turns frames into text, each followed by a blank line. `data` is JSON, so it contains no line break; event names come from closed lists.
 */
export function writeFrames(frames: readonly Frame[]): string {
  let text = ''
  for (let at = 0; at < frames.length; at += 1) {
    const { event, data } = frames[at] as Frame
    text += `${event === undefined ? 'data: ' : (prefixes.get(event) ?? eventPrefix(event))}${data}\n\n`
  }
  return text
}

/** What stands before the data of an event, by its name: each piece of a text that is not yet joined takes 32 bytes. */
const prefixes = new Map<string, string>()
/** Dialects have a few dozen names of events. */
const maxPrefixes = 200

function eventPrefix(event: string): string {
  const prefix = `event: ${event}\ndata: `
  if (prefixes.size < maxPrefixes) prefixes.set(event, prefix)
  return prefix
}

/** A comment: clients do not treat it as an event, and proxies see that the stream is alive. */
export const keepAlive = ': keep-alive\n\n'
