import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { InferenceEvent, InferenceResponse, Item, Prompt } from '@signalbox/dialects/protocol'
import { fold, unfold } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ItemAssembler, OpenItem } from '../../../../dialects/src/common/item-assembler.ts'
import { anyCharacter } from '../../../../dialects/test/any-character.ts'
import { faultsOf } from '../../../../dialects/test/laws.ts'
import { OutputCutter } from './output-cutter.ts'
import { watchCalls } from './response-pipeline.ts'

const usage = { input_tokens: 1, output_tokens: 9_999, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
const answer = (...output: readonly Item[]): InferenceResponse => ({
  id: 'r',
  model: 'm',
  created_at: 1,
  output,
  outcome: { status: 'completed' },
  usage,
})
const message = (text: string): Item => ({ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'text', text }] })
const call = (name: string, written = '{}'): Item => ({ type: 'function_call', call_id: `call_${name}`, name, arguments: written })

/** Characters allowed under a cap of ten tokens: 10 × 1.05 × 16, and 1,024. */
const cap = 10
const most = 168 + 1_024

function under(batches: readonly (readonly InferenceEvent[])[]) {
  let cuts = 0
  const read: InferenceEvent[] = []
  const cutter = new OutputCutter(cap, {
    onCut: () => {
      cuts += 1
    },
    close: () => endOf(read),
  })
  const events: InferenceEvent[] = []
  for (const batch of batches)
    if (cuts === 0) {
      read.push(...batch)
      events.push(...cutter.cut(batch))
    }
  return { events, cuts, response: fold(events) }
}

/** What a decoder that has read these events returns when it is closed: each open item as far as it came. */
function endOf(read: readonly InferenceEvent[]): readonly InferenceEvent[] {
  const open = new Map<number, OpenItem>()
  for (const event of read) {
    const partial = event.type === 'delta' ? open.get(event.index) : undefined
    if (event.type === 'item_started') open.set(event.index, new OpenItem(event.item))
    else if (event.type === 'item_finished') open.delete(event.index)
    else if (event.type === 'delta' && partial) {
      if (event.delta.kind === 'annotation') partial.part('text', event.delta.part).annotations.push(event.delta.annotation)
      else new ItemAssembler().text(partial, event.delta)
    }
  }
  const ends = [...open].map(([index, partial]) => ({ type: 'item_finished', index, item: partial.complete('incomplete') }) as const)
  return [...ends, { type: 'finished', outcome: { status: 'failed', error: { kind: 'unreadable', message: 'It was closed.' } } }]
}

const lengthOf = (events: readonly InferenceEvent[]): number =>
  events.reduce((sum, event) => sum + (event.type === 'delta' && 'text' in event.delta ? event.delta.text.length : 0), 0)

describe('the output cap', () => {
  test('passes a response within the cap unchanged, batch by batch', () => {
    const batch = unfold(answer(message('x'.repeat(most))))
    let cuts = 0
    const cutter = new OutputCutter(cap, {
      onCut: () => {
        cuts += 1
      },
      close: () => [],
    })
    expect(cutter.cut(batch)).toBe(batch)
    expect(cuts).toBe(0)
    expect([most, most + 1].map(length => cutter.isTooLong(answer(message('x'.repeat(length)))))).toEqual([false, true])
  })

  test('keeps of a text that was cut no more in memory than what was sent of it', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const kept: InferenceResponse[] = []
    collect()
    const before = process.memoryUsage().heapUsed
    for (let at = 0; at < 40; at += 1) {
      const long = String(at).padEnd(1_000_000, 'x')
      kept.push(under([unfold(answer(message(long)))]).response)
      const call: Item = { type: 'function_call', call_id: 'c', name: 'f', arguments: long }
      kept.push(under([unfold(answer(call))]).response)
    }
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000)
    expect(kept).toHaveLength(80)
  })

  test('cuts a response without end in the middle of a text and marks it as incomplete', () => {
    const { events, response, cuts } = under([unfold(answer(message('x'.repeat(most - 1)), message('more than there is room for')))])
    expect(cuts).toBe(1)
    expect(faultsOf(events)).toEqual([])
    expect(lengthOf(events)).toBe(most)
    expect(response.outcome).toEqual({ status: 'incomplete', reason: 'max_output_tokens' })
    expect(response.usage).toBeUndefined()
    expect(response.output.map(item => 'status' in item && item.status)).toEqual(['completed', 'incomplete'])
    expect(response.output[1]).toMatchObject({ content: [{ type: 'text', text: 'm' }] })
  })

  test('counts arguments and refusals, but not reasoning, to which not every cap applies', () => {
    const reasoning: Item = { type: 'reasoning', summary: ['s'.repeat(most)], content: ['c'.repeat(most)] }
    expect(under([unfold(answer(reasoning, message('Done.')))]).cuts).toBe(0)
    expect(under([unfold(answer(call('f', 'x'.repeat(most + 1))))]).response.output).toMatchObject([
      { type: 'function_call', name: 'f', arguments: 'x'.repeat(most), status: 'incomplete' },
    ])
    const refusal: Item = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'n'.repeat(most + 1) }] }
    expect(under([unfold(answer(refusal))]).response.output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'n'.repeat(most) }] }])
  })

  test('finishes each open item with all of its delivered content when it cuts', () => {
    const open: readonly InferenceEvent[] = [
      { type: 'started', id: 'r', model: 'm', created_at: 1 },
      { type: 'item_started', index: 0, item: { type: 'reasoning', summary: [] } },
      { type: 'delta', index: 0, delta: { kind: 'summary', part: 0, text: 'Thus.' } },
      { type: 'item_started', index: 1, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'delta', index: 1, delta: { kind: 'text', part: 0, text: 'See ', logprobs: [{ token: 'See' }] } },
      { type: 'delta', index: 1, delta: { kind: 'annotation', part: 0, annotation: { type: 'url_citation' } } },
    ]
    const endless: InferenceEvent = { type: 'delta', index: 1, delta: { kind: 'text', part: 1, text: 'x'.repeat(most) } }
    const { events, response } = under([open, [endless], [endless]])
    expect(faultsOf(events)).toEqual([])
    expect(response.output).toEqual([
      { type: 'reasoning', summary: ['Thus.'] },
      {
        type: 'message',
        role: 'assistant',
        status: 'incomplete',
        content: [
          { type: 'text', text: 'See ', annotations: [{ type: 'url_citation' }], logprobs: [{ token: 'See' }] },
          { type: 'text', text: 'x'.repeat(most - 4) },
        ],
      },
    ])
  })

  test('leaves out parts of an open item without delivered content when it cuts', () => {
    const parts: Item = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'x'.repeat(most + 9) },
        { type: 'text', text: 'more' },
        { type: 'refusal', refusal: 'no' },
      ],
    }
    const reasoning: Item = { type: 'reasoning', summary: ['Thus.'] }
    expect(under([unfold(answer(reasoning, parts))]).response.output).toEqual([
      { type: 'reasoning', summary: ['Thus.'] },
      { type: 'message', role: 'assistant', status: 'incomplete', content: [{ type: 'text', text: 'x'.repeat(most) }] },
    ])
  })

  test('does not end an item twice that had ended, or that ends in the rest of the batch', () => {
    const [first, second] = [message('x'.repeat(most)), message('more')]
    const batch = unfold(answer(first, second))
    const ends = batch.filter(event => event.type === 'item_finished')
    const events = new OutputCutter(cap, { onCut: () => {}, close: () => ends }).cut(batch)
    expect(events.filter(event => event.type === 'item_finished').map(event => 'index' in event && event.index)).toEqual([0, 1])
    expect(faultsOf(events)).toEqual([])
  })

  test('gives a legal stream of the right length, however the response is split into deltas and batches', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string({ unit: anyCharacter, maxLength: 400 }), { maxLength: 4 }), { maxLength: 12 }), texts => {
        const head: readonly InferenceEvent[] = [
          { type: 'started', id: 'r', model: 'm', created_at: 1 },
          { type: 'item_started', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
        ]
        const said = texts.flat().join('')
        const tail = unfold(answer(message(said))).slice(-2)
        const deltas = texts.map(batch =>
          batch.map((text): InferenceEvent => ({ type: 'delta', index: 0, delta: { kind: 'text', part: 0, text } })),
        )
        const { events, cuts } = under([head, ...deltas, tail])
        expect(faultsOf(events)).toEqual([])
        expect(cuts).toBe(said.length > most ? 1 : 0)
        const length = lengthOf(events)
        expect(length === Math.min(most, said.length) || (length === most - 1 && cuts === 1)).toBe(true)
        expect(JSON.stringify(events)).not.toMatch(/\\ud[89ab]/)
      }),
    )
  })
})

describe('the warnings about unexpected tool calls', () => {
  const tool = (name: string) => ({ type: 'function', name }) as const
  const remarks = (prompt: Partial<Prompt>, ...output: readonly Item[]) => {
    const calls = watchCalls({ input: [], ...prompt })
    calls?.look(unfold(answer(...output)))
    return calls?.warnings().map(({ code, param }) => [code, param])
  }

  test('do not watch a request without tools', () => {
    expect(watchCalls({ input: [] })).toBeUndefined()
    expect(watchCalls({ input: [], tools: [] })).toBeUndefined()
  })

  test('name a tool that was not offered once', () => {
    const calls = watchCalls({ input: [], tools: [tool('a')] })
    calls?.look(unfold(answer(call('a'), call('b'), call('b'), call('c'))))
    expect(calls?.warnings()).toEqual([
      { code: 'tool_not_offered', message: 'The model called "b", "c", which is not in the tools of the request.', param: 'tools' },
    ])
  })

  test('accept any tool name beside a hosted tool', () => {
    const hosted = { type: 'native', dialect: 'responses', body: { type: 'mcp' } } as const
    expect(remarks({ tools: [tool('a'), hosted] }, call('b'))).toEqual([])
  })

  test('mention parallel calls only if the request disabled them', () => {
    const twice = [call('a'), message('and'), { ...call('a'), call_id: 'again' }] as const
    expect(remarks({ tools: [tool('a')] }, ...twice)).toEqual([])
    expect(remarks({ tools: [tool('a')], parallel_tool_calls: false }, call('a'))).toEqual([])
    expect(remarks({ tools: [tool('a')], parallel_tool_calls: false }, ...twice)).toEqual([
      ['parallel_tool_calls_ignored', 'parallel_tool_calls'],
    ])
  })
})
