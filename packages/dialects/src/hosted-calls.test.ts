import { expect, test } from 'vitest'
import { geminiProvider } from './gemini/provider.ts'
import { messagesProvider } from './messages/provider.ts'
import { responsesProvider } from './responses/provider.ts'

test('hosted tool calls of a Responses response are counted', () => {
  const item = (type: string, id: string) => ({ type, id, status: 'completed' })
  const output = [item('web_search_call', 'ws_1'), item('web_search_call', 'ws_2'), item('code_interpreter_call', 'ci_1')]
  const body = { id: 'r', model: 'm', created_at: 1, status: 'completed', output, usage: { input_tokens: 9, output_tokens: 3 } }
  expect(responsesProvider.decodeResponse(body).usage?.hosted_calls).toEqual({ web_search: 2, code_interpreter: 1 })
  expect(responsesProvider.decodeResponse({ ...body, output: [] }).usage).not.toHaveProperty('hosted_calls')
})

test('hosted tool calls of a Messages response are counted from its usage', () => {
  const usage = { input_tokens: 9, output_tokens: 3, server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 } }
  const body = {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage,
  }
  expect(messagesProvider.decodeResponse(body).usage?.hosted_calls).toEqual({ web_search: 2 })
})

test('searches of a Gemini response are its distinct queries, whole or streamed', () => {
  const chunk = (webSearchQueries: readonly string[], text: string) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, groundingMetadata: { webSearchQueries, imageSearchQueries: ['c'] } }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
  })
  expect(geminiProvider.decodeResponse(chunk(['a', '', 'b', 'a'], 'Hi')).usage?.hosted_calls).toEqual({ web_search: 3 })
  const decoder = geminiProvider.decodeEvents()
  const events = [chunk(['a'], 'H'), chunk(['a', 'b'], 'i')].flatMap(each => decoder.read([{ data: JSON.stringify(each) }]))
  expect([...events, ...decoder.end()].at(-1)).toMatchObject({ type: 'finished', usage: { hosted_calls: { web_search: 3 } } })
})

test('options that raise the price are read from the usage of a Messages response', () => {
  const usage = { input_tokens: 9, output_tokens: 3, speed: 'fast', inference_geo: 'not_available' }
  const body = {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
  }
  expect(messagesProvider.decodeResponse({ ...body, usage }).usage?.options).toEqual({ speed: 'fast' })
  expect(messagesProvider.decodeResponse({ ...body, usage: { ...usage, speed: 7 } }).usage).not.toHaveProperty('options')
})

test('other hosted tools are reported once each, ten at most, and hostile names are not', () => {
  const kinds = ['x_search_call', 'x_search_call', 'people_search_results', 'function_call', 'custom_tool_call', 'mcp_call', 'reasoning']
  const hostile = ['<b>_call', '\u0000_call', `${'x'.repeat(1_000_000)}_call`, 'a b_call', '_call', 7, null, {}]
  const output = [...kinds, ...hostile].map(type => ({ type, id: 'i', status: 'completed' }))
  const usage = { input_tokens: 9, output_tokens: 3 }
  const body = { id: 'r', model: 'm', created_at: 1, status: 'completed', output, usage }
  const callsOf = (value: unknown) => responsesProvider.decodeResponse({ ...body, output: value as never }).usage?.other_calls
  expect(callsOf(output)).toEqual(['x_search_call', 'people_search_results'])
  expect(callsOf(Array.from({ length: 500 }, (_, at) => ({ type: `k${at}_call`, id: 'i' })))).toHaveLength(10)
  expect(['text', {}, null, 7].map(callsOf)).toEqual([undefined, undefined, undefined, undefined])
})

test('places of Google Maps are reported if a Gemini response used them, also before its last chunk', () => {
  const chunk = (groundingChunks: unknown, text: string) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, groundingMetadata: { groundingChunks } }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
  })
  const decoder = geminiProvider.decodeEvents()
  const chunks = [chunk([{ maps: { uri: 'https://maps.example' } }], 'H'), chunk([{ web: { uri: 'https://a.example' } }], 'i')]
  const events = chunks.flatMap(each => decoder.read([{ data: JSON.stringify(each) }]))
  expect([...events, ...decoder.end()].at(-1)).toMatchObject({ usage: { other_calls: ['google_maps'] } })
  for (const odd of [[{ maps: 'yes' }], [{ maps: null }], 'maps', [7], {}])
    expect(geminiProvider.decodeResponse(chunk(odd, 'Hi') as never).usage).not.toHaveProperty('other_calls')
})
