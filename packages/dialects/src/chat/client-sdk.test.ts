import { describe, expect, test } from 'vitest'
import { faultsOf } from '../../test/laws.ts'
import { calledBy, clientFor, clients, encode, eventStream, hi } from '../../test/openai-sdk.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem } from '../protocol/item.ts'
import { writeFrames } from '../sse/write.ts'

describe.each(Object.keys(clients))('openai %s reads calls streamed in turns', version => {
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
    const final = await clientFor(version, () => eventStream(text))
      .chat.completions.stream(hi)
      .finalChatCompletion()
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
    expect(calledBy(final.choices[0]?.message.tool_calls ?? [])).toEqual(
      calls.map(({ call_id, name, arguments: written }) => [call_id, name, written]),
    )
  })
})
