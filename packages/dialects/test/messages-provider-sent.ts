import { messagesProvider } from '../src/messages/provider.ts'
import type { ResponseMapping } from '../src/protocol/dialect.ts'
import type { Item, Part } from '../src/protocol/item.ts'
import type { Offer, Quirks } from '../src/protocol/model.ts'
import type { InferenceRequest, Prompt } from '../src/protocol/request.ts'
import type { JsonObject } from '../src/protocol/wire.ts'
import { offer } from './laws.ts'

// What a provider of the Messages dialect is sent.

export const text = (words: string): Part => ({ type: 'text', text: words })
export const user = (...content: readonly Part[]): Item => ({ type: 'message', role: 'user', content })
export const assistant = (words: string): Item => ({ type: 'message', role: 'assistant', content: [text(words)] })
export const hello = user(text('Hi'))
export const call = (call_id: string, written = '{"city":"Rome"}'): Item => ({
  type: 'function_call',
  call_id,
  name: 'weather',
  arguments: written,
})
export const result = (call_id: string, output: string | readonly Part[] = 'sunny'): Item => ({
  type: 'function_call_output',
  call_id,
  output,
})

export const requestFor = (prompt: Partial<Prompt>): InferenceRequest => ({
  prompt: { input: [hello], ...prompt },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
})

/** The body, what the reader of the answer is told, and the fields that warnings name. */
export interface Sent {
  readonly [field: string]: unknown
  readonly messages: readonly (JsonObject & { readonly content: readonly JsonObject[] })[]
  readonly tools?: readonly JsonObject[]
  readonly mapping?: ResponseMapping
  readonly warned: readonly (string | undefined)[]
}

export function send(prompt: Partial<Prompt>, quirks: Quirks = {}, at: Offer = offer): Sent {
  const { body, warnings, mapping } = messagesProvider.encodeRequest(requestFor(prompt), at, quirks)
  return { ...body, ...(mapping && { mapping }), warned: warnings.map(({ param }) => param) } as unknown as Sent
}
