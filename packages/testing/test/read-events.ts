import type { JsonObject } from '@signalbox/dialects/protocol'

export interface StreamEvent extends JsonObject {
  readonly type: string
  readonly sequence_number: number
}

/** The events of a Responses stream, and the comments between them. Throws where one is not whole. */
export function readEvents(text: string): { readonly events: readonly StreamEvent[]; readonly comments: readonly string[] } {
  const events: StreamEvent[] = []
  const comments: string[] = []
  for (const block of text.split('\n\n')) {
    if (block === '') continue
    if (block.startsWith(':')) {
      comments.push(block)
      continue
    }
    const match = /^event: ([a-z_.]+)\ndata: ([^\r\n]*)$/.exec(block)
    if (!match) throw new Error(`This is no whole event: ${block.slice(0, 200)}`)
    const event = JSON.parse(match[2] ?? '') as StreamEvent
    if (event.type !== match[1]) throw new Error(`The event is called ${match[1]} and says ${event.type}.`)
    events.push(event)
  }
  return { events, comments }
}

export const terminals: readonly string[] = ['response.completed', 'response.incomplete', 'response.failed']
