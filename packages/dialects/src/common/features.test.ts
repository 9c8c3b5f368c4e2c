import { describe, expect, test } from 'vitest'
import { fidelityOf } from '../../../core/src/request/dry-run/fidelity.ts'
import { makeCandidate } from '../../../core/src/routing/plan.ts'
import type { Fate } from '../protocol/dialect.ts'
import type { Item, Part } from '../protocol/item.ts'
import type { Offer } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Tool } from '../protocol/tool.ts'
import { providerDialects } from '../providers.ts'
import { features } from './features.ts'

const user = (...content: readonly Part[]): Item => ({ type: 'message', role: 'user', content })
const hello = user({ type: 'text', text: 'Hi' })
const call: Item = { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' }
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } as const
const weather: Tool = { type: 'function', name: 'weather', parameters: schema }
const tools = [weather] as const

/** Minimal prompts that use each feature. */
const samples: Readonly<Record<string, Partial<Prompt>>> = {
  Instructions: { instructions: 'Be brief.' },
  'System message in mid-conversation': {
    input: [
      hello,
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      hello,
    ],
  },
  'Image as bytes': { input: [user({ type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' })] },
  'Image by address': { input: [user({ type: 'text', text: 'Look' }, { type: 'image', url: 'https://a.example/1.png' })] },
  'Name of a file': {
    input: [user({ type: 'text', text: 'Read' }, { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' })],
  },
  'Citations and context of a file': {
    input: [
      user({ type: 'text', text: 'Read' }, { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', citable: true, context: 'Old.' }),
    ],
  },
  'File as bytes (PDF)': {
    input: [user({ type: 'text', text: 'Read' }, { type: 'file', url: 'data:application/pdf;base64,JVBERi0=' })],
  },
  'File by address': { input: [user({ type: 'text', text: 'Read' }, { type: 'file', url: 'https://a.example/1.pdf' })] },
  Audio: { input: [user({ type: 'text', text: 'Listen' }, { type: 'audio', data: 'AAAA', format: 'wav' })] },
  'Cache point': { input: [user({ type: 'text', text: 'Hi', cache: {} })] },
  'Tool result that is an error': {
    input: [hello, call, { type: 'function_call_output', call_id: 'c1', output: 'blind', is_error: true }],
    tools,
  },
  'Function tools': { tools },
  'Strict tools': { tools: [{ ...weather, strict: true }] },
  'Tools in groups (`namespace`), and tools that join in mid-conversation': {
    tools: [{ type: 'native', dialect: 'responses', body: { type: 'namespace', name: 'sky', tools: [] }, tools }],
  },
  'Custom tools, their calls and results': {
    input: [
      hello,
      { ...call, name: 'patch', arguments: '*** Begin', custom: true },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
    ],
    tools: [{ type: 'function', name: 'patch', custom: {} }],
  },
  'Grammar of a custom tool': {
    tools: [{ type: 'function', name: 'patch', custom: { grammar: { syntax: 'lark', definition: 'start: /.+/' } } }],
  },
  'Tool choice': { tools, tool_choice: 'required' },
  'No parallel tool calls': { tools, parallel_tool_calls: false },
  'Output cap': { max_output_tokens: 77 },
  Temperature: { temperature: 0.3 },
  'Top p': { top_p: 0.4 },
  'Top k': { top_k: 5 },
  'Frequency penalty': { frequency_penalty: 0.7 },
  'Presence penalty': { presence_penalty: 0.8 },
  'Log probabilities': { top_logprobs: 3 },
  'Stop texts': { stop: ['END'] },
  Seed: { seed: 42 },
  'Answer by a JSON schema': { text: { format: { type: 'json_schema', name: 'x', schema } } },
  'Answer as JSON': { text: { format: { type: 'json_object' } } },
  Verbosity: { text: { verbosity: 'low' } },
  'Reasoning effort': { reasoning: { effort: 'high' } },
  'Reasoning summary': { reasoning: { summary: 'detailed' } },
  Truncation: { truncation: 'auto' },
  User: { user: 'somebody' },
  'Safety identifier': { safety_identifier: 'safe' },
  'Prompt cache key': { prompt_cache_key: 'key' },
}

const asking = (prompt: Partial<Prompt>): InferenceRequest => ({
  prompt: { input: [hello], ...prompt },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
})

const losses: ReadonlySet<Fate> = new Set<Fate>(['approximated', 'dropped', 'refused'])

describe.each(Object.values(providerDialects))('$name', dialect => {
  const offer: Offer = { provider: 'p', model: 'm', api: dialect.name, maxOutputTokens: 64_000 }
  const candidate = makeCandidate({
    model: { id: 'm', offers: [offer] },
    offer,
    provider: { id: 'p', dialects: [dialect], endpoint: () => '', authorize: () => {} },
    credential: { id: 'c', owner: 'platform', secret: '' },
  })

  test.each([...features].map(([id, feature]) => ({ id, ...feature })))('$name: a sample has the fate that the table states', feature => {
    const prompt = samples[feature.name]
    const expected = dialect.fidelity?.[feature.id]
    if (!expected || !prompt) throw new Error(`"${feature.name}" has no sample.`)
    expect(feature.isUsed(asking(prompt).prompt)).toBe(true)
    const reported = fidelityOf(asking(prompt), candidate).features.find(({ name }) => name === feature.name)
    expect(reported?.fate).toBe(expected)
    expect(reported?.note !== undefined).toBe(losses.has(expected))
  })

  test('a plain request loses nothing', () => {
    expect(fidelityOf(asking({}), candidate).features).toEqual([])
  })
})
