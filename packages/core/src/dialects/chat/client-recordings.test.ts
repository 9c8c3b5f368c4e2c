import OpenAI from 'openai'
import OpenAI6 from 'openai6'
import { describe, expect, test } from 'vitest'
import { faultsOf, metadataOf } from '../../../test/dialects/laws.ts'
import type { InferenceEvent } from '../../protocol/event.ts'
import type { FunctionCallItem } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Frame } from '../../protocol/wire.ts'
import { writeFrames } from '../../sse/write.ts'
import { chatClient } from '../index.ts'

// Every recorded response, of every provider, is encoded in chunks, read back by our provider dialect and by two versions of the
// vendor's SDK, and validated against the vendor's API description.

const hi = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] }
const request: InferenceRequest = chatClient.decodeRequest({ ...hi, stream: true, stream_options: { include_usage: true } })

const encode = (events: readonly InferenceEvent[]): readonly Frame[] => {
  const metadata = metadataOf()
  return chatClient.encodeEvents(request, () => metadata).write(events)
}

const clients = { v7: OpenAI, v6: OpenAI6 } as unknown as Readonly<Record<string, typeof OpenAI>>

const calledBy = (calls: readonly OpenAI.Chat.ChatCompletionMessageToolCall[]): unknown =>
  calls.map(call => (call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [call.id]))

describe.each(Object.keys(clients))('openai %s reads calls streamed in turns', version => {
  const Client = clients[version] ?? OpenAI
  test('as N calls in order', async () => {
    const calls = Array.from(
      { length: 5 },
      (_, at): FunctionCallItem => ({
        type: 'function_call',
        call_id: `call_${at}`,
        name: `f${at}`,
        arguments: JSON.stringify({ value: 'x'.repeat(at) }),
      }),
    )
    const events: readonly InferenceEvent[] = [
      { type: 'started', id: 'x', model: 'm', created_at: 1 },
      ...calls.map((item, index): InferenceEvent => ({ type: 'item_started', index, item: { ...item, arguments: '' } })),
      ...Array.from({ length: 20 }, (_, at) =>
        calls.flatMap((item, index): readonly InferenceEvent[] =>
          item.arguments[at] === undefined
            ? []
            : [
                {
                  type: 'delta',
                  index,
                  delta: { kind: 'arguments', part: 0, text: item.arguments.slice(at, at === 19 ? undefined : at + 1) },
                },
              ],
        ),
      ).flat(),
      ...calls.map((item, index): InferenceEvent => ({ type: 'item_finished', index, item })),
      { type: 'finished', outcome: { status: 'completed' } },
    ]
    expect(faultsOf(events)).toEqual([])
    const text = writeFrames(encode(events))
    const client = new Client({
      apiKey: 'x',
      baseURL: 'http://gateway.test/v1',
      maxRetries: 0,
      fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
    })
    const final = await client.chat.completions.stream(hi).finalChatCompletion()
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
    expect(calledBy(final.choices[0]?.message.tool_calls ?? [])).toEqual(
      calls.map(({ call_id, name, arguments: written }) => [call_id, name, written]),
    )
  })
})
