import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from 'anthropic0'
import { messagesClient } from '../src/messages/client.ts'
import type { InferenceEvent } from '../src/protocol/event.ts'
import type { InferenceRequest } from '../src/protocol/request.ts'
import type { JsonObject } from '../src/protocol/wire.ts'
import { writeFrames } from '../src/sse/write.ts'
import { metadataOf, plain } from './laws.ts'

// Two versions of the vendor's SDK read our responses: the newer merges usage and stop details; the older throws where the newer is
// lenient.

export const clients: Readonly<Record<string, typeof Anthropic>> = { v1: Anthropic, v0: Anthropic0 as unknown as typeof Anthropic }
export const clientFor = (version: string, answer: () => Response): Anthropic =>
  new (clients[version] ?? Anthropic)({ apiKey: 'x', baseURL: 'http://gateway.test', maxRetries: 0, fetch: async () => answer() })

export const params = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }
export const request: InferenceRequest = messagesClient.decodeRequest(params)

export const encode = (events: readonly InferenceEvent[]) => {
  const metadata = metadataOf()
  return messagesClient.encodeEvents(request, () => metadata).write(events)
}
export const stream = (events: readonly InferenceEvent[]): string => writeFrames(encode(events))
export const eventStream = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
export const json = (body: JsonObject, status = 200): Response => Response.json(body, { status })

export const streamed = (version: string, text: string) =>
  clientFor(version, () => eventStream(text))
    .messages.stream(params)
    .finalMessage()
export const whole = (version: string, body: JsonObject) => clientFor(version, () => json(body)).messages.create(params)

/** Content without fields that an SDK adds or omits when they are empty. */
export const content = (blocks: readonly object[]): unknown =>
  blocks.map(block =>
    Object.fromEntries(Object.entries(plain(block)).filter(([field, value]) => value !== null && field !== 'parsed_output')),
  )
