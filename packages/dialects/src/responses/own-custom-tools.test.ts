import { describe, expect, test } from 'vitest'
import { xai } from '../../../providers/src/vendors.ts'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import { withoutForeignRecords } from '../common/earlier-answers.ts'
import { fold } from '../protocol/fold.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { responsesClient } from './client.ts'
import { responsesProvider } from './provider.ts'

// xAI answers with custom calls that it ran itself: who runs a call depends on the tools of the request, not on the type of the item.

const quirks = xai({ apiKey: 'k' }).quirks ?? {}
const user = { role: 'user', content: 'Hi' } as const
const exec = { type: 'custom', name: 'exec' } as const
const hosted = {
  type: 'custom_tool_call',
  id: 'ctc_1',
  call_id: 'xs_call_1',
  name: 'x_keyword_search',
  input: '{"query":"q"}',
  status: 'completed',
}
const own = { ...hosted, id: 'ctc_2', call_id: 'c2', name: 'exec', input: 'ls' }
const body = {
  id: 'r',
  model: 'm',
  created_at: 1,
  status: 'completed',
  output: [hosted, own],
  usage: { input_tokens: 9, output_tokens: 3 },
}
const mappingFor = (tools: readonly JsonObject[]) =>
  responsesProvider.encodeRequest(responsesClient.decodeRequest({ model: 'm', input: [user], tools }), offer, quirks).mapping ?? {}

describe('a custom call at xAI whose name is no custom tool of the request', () => {
  const expected = [
    { type: 'native', body: { name: 'x_keyword_search' } },
    { type: 'function_call', name: 'exec', custom: true, arguments: 'ls' },
  ]

  test.each([
    ['in `tools`', [exec]],
    ['in a group', [{ type: 'namespace', name: 'functions', tools: [exec] }]],
  ])('was run by xAI, and one of the client’s tool %s was not', (_, tools) => {
    const { output, usage } = responsesProvider.decodeResponse(body, mappingFor(tools))
    expect(output).toMatchObject(expected)
    expect(usage?.other_calls).toEqual(['x_keyword_search'])
  })

  test('was run by xAI in a stream too', () => {
    const decoder = responsesProvider.decodeEvents(mappingFor([exec]))
    const events = [
      { type: 'response.created', response: { ...body, output: [], status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...hosted, input: '', status: 'in_progress' } },
      { type: 'response.custom_tool_call_input.delta', output_index: 0, item_id: 'ctc_1', delta: hosted.input },
      { type: 'response.custom_tool_call_input.done', output_index: 0, item_id: 'ctc_1', input: hosted.input },
      { type: 'response.output_item.done', output_index: 0, item: hosted },
      { type: 'response.output_item.added', output_index: 1, item: { ...own, input: '', status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 1, item: own },
      { type: 'response.completed', response: body },
    ].flatMap(event => decoder.read([{ event: event.type, data: JSON.stringify(event) }]))
    const response = fold([...events, ...decoder.end()])
    expect(response.output).toMatchObject(expected)
    expect(response.usage?.other_calls).toEqual(['x_keyword_search'])
  })

  test('is no tool call of a chat answer, and does not stop it for one', () => {
    const request = chatClient.decodeRequest({ model: 'm', messages: [user] })
    const { mapping } = responsesProvider.encodeRequest(request, offer, quirks)
    const text = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Found.', annotations: [] }] }
    const answer = responsesProvider.decodeResponse({ ...body, output: [hosted, text] }, mapping)
    const metadata = { id: 'resp_1', model: 'm', created_at: 1, itemId: (prefix: string) => prefix, warnings: [] }
    const written = chatClient.encodeResponse(answer, request, metadata)
    expect(written).toMatchObject({ choices: [{ finish_reason: 'stop', message: { content: 'Found.' } }] })
    expect(JSON.stringify(written)).not.toContain('tool_calls')
  })
})

test('elsewhere every custom call is the client’s', () => {
  expect(responsesProvider.decodeResponse(body, {}).output).toMatchObject([{ type: 'function_call' }, { type: 'function_call' }])
})

test('sent back, such a call is a record of the earlier answer, and a call with a result or a tool is not', () => {
  const result = { type: 'custom_tool_call_output', call_id: 'c2', output: 'a' }
  const request = responsesClient.decodeRequest({
    model: 'm',
    input: [user, hosted, own, result, { ...own, call_id: 'c3' }, user],
    tools: [exec],
  })
  expect(withoutForeignRecords(request, 'messages').request.prompt.input.map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
    'function_call',
    'message',
  ])
  expect(responsesProvider.encodeRequest(request, offer, quirks).body.input).toMatchObject([{}, hosted, own, result, {}, {}])
})
