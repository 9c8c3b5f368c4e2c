import { describe, expect, test } from 'vitest'
import { encode, metadataOf, offer } from '../test/laws.ts'
import { fold } from './protocol/fold.ts'
import type { JsonObject } from './protocol/wire.ts'
import { providerDialects } from './providers.ts'
import { responsesClient } from './responses/client.ts'

const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] } as const
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters } as const
const found = { type: 'namespace', name: 'mcp__sky', tools: [{ type: 'function', name: 'look', defer_loading: true, parameters }] }
const user = { role: 'user', content: 'Look.' }
const call = { type: 'tool_search_call', call_id: 'c1', execution: 'client', status: 'completed', arguments: { query: 'sky' } } as const
const output = { type: 'tool_search_output', call_id: 'c1', execution: 'client', status: 'completed', tools: [found] }
const ask = (...input: readonly JsonObject[]) =>
  responsesClient.decodeRequest({ model: 'm', stream: true, input: [user, ...input], tools: [search] })

describe.each(['chat', 'messages', 'gemini', 'bedrock'] as const)('a tool search of the client for %s', name => {
  const encodeFor = (...input: readonly JsonObject[]) => {
    const { body, warnings } = providerDialects[name].encodeRequest(ask(...input), offer, {})
    return { text: JSON.stringify(body), warnings }
  }

  test('is a function with its parameters, and without a warning', () => {
    const { text, warnings } = encodeFor()
    expect(text).toMatch(/"name":"tool_search","description":"Finds tools."/)
    expect(text).toContain('"query"')
    expect(warnings).toEqual([])
  })

  test.each([
    ['its own item', call],
    ['a function call', { type: 'function_call', call_id: 'c1', name: 'tool_search', arguments: '{"query":"sky"}' }],
  ])('has its call as %s answered by what it found, which joins the tools', (_, made) => {
    const { text, warnings } = encodeFor(made, output)
    expect(text).toContain('Found these tools, which can be called now: mcp__sky__look')
    expect(text.split('"name":"mcp__sky__look"')).toHaveLength(2)
    expect(text).toContain('sky')
    expect(warnings).toEqual([])
  })

  test('is answered if it found nothing', () => {
    expect(encodeFor(call, { ...output, tools: [] }).text).toContain('Found no tools.')
  })
})

test('a search that the provider ran answers no call', () => {
  const { body } = providerDialects.chat.encodeRequest(ask({ ...output, call_id: null, execution: 'server' }, user), offer, {})
  expect(JSON.stringify(body.messages)).not.toContain('Found')
  expect(JSON.stringify(body.tools)).toContain('mcp__sky__look')
})

describe('a call of the client’s tool search', () => {
  const { mapping } = providerDialects.chat.encodeRequest(ask(), offer, {})
  const toolCall = (args: string) => ({ index: 0, id: 'c1', type: 'function', function: { name: 'tool_search', arguments: args } })
  const head = { id: 'x', created: 1, model: 'm' }
  const expected = { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'sky' }, status: 'completed' }

  test('comes back as `tool_search_call` in a whole response', () => {
    const message = { role: 'assistant', content: null, tool_calls: [toolCall('{"query":"sky"}')] }
    const body = { ...head, choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
    const written = responsesClient.encodeResponse(providerDialects.chat.decodeResponse(body, mapping), ask(), metadataOf())
    expect(written.output).toMatchObject([expected])
  })

  test('comes back as `tool_search_call` in a stream, without events about its arguments', () => {
    const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
      data: JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] }),
    })
    const decoder = providerDialects.chat.decodeEvents(mapping)
    const frames = [
      chunk({ tool_calls: [toolCall('{"query":')] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"sky"}' } }] }),
    ]
    const events = [...decoder.read([...frames, chunk({}, 'tool_calls'), { data: '[DONE]' }]), ...decoder.end()]
    expect(fold(events).output).toMatchObject([{ type: 'native', body: expected }])
    const sent = encode(events, ask()).map(({ data }) => JSON.parse(data) as JsonObject)
    expect(sent.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ])
    expect(sent[3]).toMatchObject({ item: expected })
  })
})

test('a Responses provider gets the search, its call and what it found as they came', () => {
  const { body } = providerDialects.responses.encodeRequest(ask(call, output), offer, {})
  expect(body).toMatchObject({ input: [{}, call, output], tools: [search] })
})
