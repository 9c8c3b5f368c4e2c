import { bedrockProvider } from '../src/bedrock/provider.ts'
import type { Item, Part } from '../src/protocol/item.ts'
import type { Offer, Quirks } from '../src/protocol/model.ts'
import type { InferenceRequest, Prompt } from '../src/protocol/request.ts'
import type { Tool } from '../src/protocol/tool.ts'
import type { JsonObject } from '../src/protocol/wire.ts'

// Requests, said in as few words as a test needs.

export const offer: Offer = { provider: 'somewhere', model: 'their-model', api: 'bedrock' }
export const user = (...content: readonly (Part | string)[]): Item => ({
  type: 'message',
  role: 'user',
  content: content.map(part => (typeof part === 'string' ? { type: 'text', text: part } : part)),
})
export const assistant = (text: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] })
export const system = (text: string): Item => ({ type: 'message', role: 'system', content: [{ type: 'text', text }] })
export const called = (call_id: string, name = 'look', written = '{}'): Item => ({
  type: 'function_call',
  call_id,
  name,
  arguments: written,
})
export const result = (call_id: string, output: string | readonly Part[] = 'done'): Item => ({
  type: 'function_call_output',
  call_id,
  output,
})
export const reasoning = (state: JsonObject): Item => ({ type: 'reasoning', summary: ['shown'], encrypted_content: JSON.stringify(state) })
export const look: Tool = {
  type: 'function',
  name: 'look',
  description: 'Looks',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
}
export const lookSpec = {
  toolSpec: { name: 'look', description: 'Looks', inputSchema: { json: { type: 'object', properties: { at: { type: 'string' } } } } },
}

export interface Asking extends Partial<Prompt> {
  readonly quirks?: Quirks
  readonly more?: Partial<Omit<InferenceRequest, 'prompt'>>
  readonly sold?: Partial<Offer>
}

export const encode = ({ quirks = {}, more, sold, ...prompt }: Asking) =>
  bedrockProvider.encodeRequest(
    { prompt: { input: [user('Hi')], ...prompt }, routing: { models: ['m'], allow_fallbacks: true }, delivery: 'whole', ...more },
    { ...offer, ...sold },
    quirks,
  )
export const body = (asking: Asking): JsonObject => encode(asking).body
export const messages = (...input: readonly Item[]): unknown => body({ input, tools: [look] }).messages
export const warned = (asking: Asking): readonly (string | undefined)[] => encode(asking).warnings.map(({ param }) => param)
export const own = (asking: Asking): unknown => body(asking).additionalModelRequestFields

export const png = 'data:image/png;base64,iVBORw0KGgo='

/** What is asked, what is sent for it, and which warnings name what. */
export type Row = readonly [name: string, asking: Asking, wanted: unknown, params: readonly string[]]
