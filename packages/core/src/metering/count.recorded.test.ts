import type { FunctionTool, Item, Part, Prompt } from '@signalbox/dialects/protocol'
import { isObject, type JsonObject } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { recordings } from '../../../dialects/test/recordings.ts'
import { estimateTokens } from './count.ts'

const user = (...content: readonly Part[]): Item => ({ type: 'message', role: 'user', content })
const text = (words: string): Part => ({ type: 'text', text: words })
const tokens = (prompt: Partial<Prompt>): number => estimateTokens({ input: [], ...prompt })

/** Of the recordings, one lists its tools, and one shows what a call and its result add. */
const eventsOf = (name: string): readonly JsonObject[] =>
  recordings
    .filter(recording => recording.name.startsWith(name))
    .flatMap(({ frames }) => frames.map(({ data }) => JSON.parse(data) as JsonObject))
const inputOf = ({ response }: JsonObject): number =>
  isObject(response) && isObject(response.usage) ? Number(response.usage.input_tokens) : 0

test('tools have the token count that a provider reported for four of them and one sentence', () => {
  const events = eventsOf('openai/openai-mcp-tool-approval.1')
  const listed = events
    .map(({ item }) => item)
    .find(item => isObject(item) && item.type === 'mcp_list_tools' && Array.isArray(item.tools) && item.tools.length > 0)
  const tools = (isObject(listed) && Array.isArray(listed.tools) ? listed.tools : []).map(
    (tool): FunctionTool => ({
      type: 'function',
      name: String(tool.name),
      description: String(tool.description),
      parameters: tool.input_schema,
    }),
  )
  expect(tools.length).toBe(4)
  const recorded = inputOf(events.findLast(({ type }) => type === 'response.completed') ?? {})
  // The sentence itself was not recorded; its response shortens this URL.
  const estimated = tokens({ tools, input: [user(text('Please shorten the link https://ai-sdk.dev/ for me.'))] })
  expect(Math.abs(estimated - recorded) / recorded).toBeLessThanOrEqual(0.1)
})

test('a call and its result add the tokens that a provider reported, from turn to turn', () => {
  const turns = eventsOf('openai/openai-reasoning-encrypted-content.1')
    .filter(({ type }) => type === 'response.completed')
    .map(inputOf)
  const added = turns.slice(2).map((count, at) => count - (turns[at + 1] ?? 0))
  const call: Item = { type: 'function_call', call_id: 'c', name: 'calculator', arguments: '{"a":19,"b":3,"op":"multiply"}' }
  const estimated = tokens({ input: [call, { type: 'function_call_output', call_id: 'c', output: '57' }] }) - tokens({})
  expect(added.length).toBeGreaterThan(0)
  for (const recorded of added) expect(Math.abs(estimated - recorded) / recorded).toBeLessThanOrEqual(0.1)
})
