import OpenAI from 'openai'
import OpenAI6 from 'openai6'
import { inject } from 'vitest'
import { chatClient } from '../src/chat/client.ts'
import type { InferenceEvent } from '../src/protocol/event.ts'
import type { InferenceRequest } from '../src/protocol/request.ts'
import type { Frame } from '../src/protocol/wire.ts'
import { metadataOf } from './laws.ts'

// Two versions of the vendor's SDK, which are the strictest readers of our responses.

export const clients = { v7: OpenAI, v6: OpenAI6 } as unknown as Readonly<Record<string, typeof OpenAI>>
export const clientFor = (version: string, answer: () => Response): OpenAI =>
  new (clients[version] ?? OpenAI)({ apiKey: 'x', baseURL: 'http://gateway.test/v1', fetch: async () => answer(), maxRetries: 0 })

/** What one version reads: everything in the long run, its share in the default run. */
export const readBy = <T>(list: readonly T[], version: string): readonly T[] =>
  list.filter((_, at) => inject('isLongRun') || at % 2 === Object.keys(clients).indexOf(version))

export const eventStream = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } })

export const hi = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] }
export const request: InferenceRequest = chatClient.decodeRequest({ ...hi, stream: true, stream_options: { include_usage: true } })

/** A response as a Chat Completions client gets it in chunks. */
export const encode = (events: readonly InferenceEvent[]): readonly Frame[] => {
  const metadata = metadataOf()
  return chatClient.encodeEvents(request, () => metadata).write(events)
}

export const calledBy = (calls: readonly OpenAI.Chat.ChatCompletionMessageToolCall[]): unknown =>
  calls.map(call => (call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [call.id]))
