import { describe, expect, test } from 'vitest'
import { outputLosses } from '../clients/output-losses.ts'
import { messagesClient } from '../messages/client.ts'
import { fold, unfold } from '../protocol/fold.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { responsesClient } from '../responses/client.ts'
import { chatClient } from './client.ts'
import { chatProvider } from './provider.ts'

const request = chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
const metadata = { id: 'resp_1', model: 'm', created_at: 1, itemId: (prefix: string) => `${prefix}_1`, warnings: [] }
const mcp = { id: 'm1', type: 'mcp', mcp: { server: 'files', tool: 'read', arguments: '{"path":"a"}' } }
const called = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }

const whole = chatProvider.decodeResponse({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [mcp, called] }, finish_reason: 'tool_calls' }],
})

const streamed = () => {
  const decoder = chatProvider.decodeEvents()
  const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
    data: JSON.stringify({
      id: 'a',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
    }),
  })
  const pieces = [
    { index: 0, id: 'm1', type: 'mcp', mcp: { server: 'files', tool: 'read', arguments: '{"pa' } },
    { index: 1, ...called },
    { index: 0, mcp: { arguments: 'th":"a"}' } },
  ]
  const frames = [...pieces.map(piece => chunk({ tool_calls: [piece] })), chunk({}, 'tool_calls'), { data: '[DONE]' }]
  return [...decoder.read(frames), ...decoder.end()]
}

describe('a call of an unknown type', () => {
  test('is sent to a Chat client in a whole response, beside the other calls', () => {
    const { choices } = chatClient.encodeResponse(whole, request, metadata) as unknown as { choices: readonly JsonObject[] }
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [called, mcp] } })
  })

  test('is sent in a stream, assembled from its pieces and with its own index', () => {
    const frames = chatClient.encodeEvents(request, () => metadata).write(streamed())
    const deltas = frames.flatMap(({ data }) => {
      const chunk: unknown = data === '[DONE]' ? {} : JSON.parse(data)
      return isObject(chunk as JsonObject)
        ? ((chunk as { choices?: readonly { delta: JsonObject }[] }).choices ?? []).map(({ delta }) => delta)
        : []
    })
    const calls = deltas.flatMap(({ tool_calls }) => (Array.isArray(tool_calls) ? (tool_calls as readonly JsonObject[]) : []))
    expect(calls.at(-1)).toEqual({ ...mcp, index: 1 })
    expect(calls.filter(({ index }) => index === 0)[0]).toMatchObject({ id: 'c1', type: 'function' })
    expect(frames.some(({ data }) => data.includes('"finish_reason":"tool_calls"'))).toBe(true)
  })

  test('is the same whole and streamed', () => {
    expect(fold(streamed()).output).toMatchObject(whole.output)
    expect(fold(unfold(whole)).output).toEqual(whole.output)
  })

  test.each([responsesClient, messagesClient])('gives a warning to a client of $name, which cannot receive it', client => {
    const losses = outputLosses(client, 'chat')
    for (const item of whole.output) losses.look(item)
    expect(losses.warnings()).toMatchObject([{ code: 'output_dropped', message: expect.stringContaining('`mcp`') }])
  })

  test('is sent back to the provider as the client received it', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [mcp] },
      { role: 'tool', tool_call_id: 'm1', content: 'ok' },
    ]
    const offer = { provider: 'p', model: 'm', api: 'chat' } as const
    expect(chatProvider.encodeRequest(chatClient.decodeRequest({ model: 'm', messages }), offer, {}).body.messages).toEqual(messages)
  })
})

test('takes time linear in the number of its pieces', () => {
  const decoder = chatProvider.decodeEvents()
  const before = process.cpuUsage()
  for (let at = 0; at < 50_000; at++) {
    const tool_calls = [{ index: 0, ...(at === 0 && { id: 'm', type: 'mcp' }), mcp: { arguments: 'x'.repeat(20) } }]
    decoder.read([{ data: JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { tool_calls } }] }) }])
  }
  decoder.end()
  expect(process.cpuUsage(before).user).toBeLessThan(20_000_000)
})
