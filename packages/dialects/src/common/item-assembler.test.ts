import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { InferenceEvent } from '../protocol/event.ts'
import { fold } from '../protocol/fold.ts'
import type { FunctionCallItem } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import { callIdFor } from './ids.ts'
import { ItemAssembler, messageShell, OpenItem, reasoningShell } from './item-assembler.ts'

const call: FunctionCallItem = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '' }
/** Events of items, without the `started` that comes before the first. */
const eventsOf = (assembler: ItemAssembler) => assembler.drain().filter(({ type }) => type !== 'started')
const typesOf = (events: readonly InferenceEvent[]) => events.map(({ type }) => type)

describe('the item assembler', () => {
  test('numbers items in the order in which they are announced, not in which they are opened', () => {
    const assembler = new ItemAssembler()
    const late = new OpenItem(call)
    const first = assembler.begin(new OpenItem(messageShell))
    assembler.announce(late)
    expect([first.index, late.index, assembler.count]).toEqual([0, 1, 2])
  })

  test('keeps the text of an unannounced item, and emits it with the announcement', () => {
    const assembler = new ItemAssembler()
    const partial = new OpenItem(call)
    for (const text of ['{"a"', ':1}']) assembler.text(partial, { kind: 'arguments', part: 0, text })
    expect(eventsOf(assembler)).toEqual([])
    assembler.announce(partial)
    assembler.announce(partial)
    expect(eventsOf(assembler)).toMatchObject([
      { type: 'item_started', index: 0, item: { ...call, status: 'in_progress' } },
      { type: 'delta', index: 0, delta: { kind: 'arguments', part: 0, text: '{"a":1}' } },
    ])
  })

  test('drops a call without a name, which is never announced', () => {
    const assembler = new ItemAssembler()
    const partial = assembler.begin(new OpenItem({ ...call, name: '' }))
    assembler.finish(partial)
    expect(partial.isFinished).toBe(true)
    expect(eventsOf(assembler)).toEqual([])
  })

  test('builds a message from its numbered parts, with annotations and log probabilities', () => {
    const assembler = new ItemAssembler()
    const partial = assembler.begin(new OpenItem(messageShell))
    assembler.text(partial, { kind: 'refusal', part: 1, text: 'no' })
    assembler.text(partial, { kind: 'text', part: 0, text: 'he', logprobs: [{ token: 'he' }] })
    assembler.text(partial, { kind: 'text', part: 0, text: 'llo' })
    assembler.cite(partial, 0, { type: 'url_citation' })
    expect(partial.complete('completed')).toEqual({
      ...messageShell,
      status: 'completed',
      content: [
        { type: 'text', text: 'hello', annotations: [{ type: 'url_citation' }], logprobs: [{ token: 'he' }] },
        { type: 'refusal', refusal: 'no' },
      ],
    })
  })

  test('builds a reasoning item from its summary and its raw text, and omits what did not arrive', () => {
    const assembler = new ItemAssembler()
    const partial = assembler.begin(new OpenItem(reasoningShell))
    assembler.text(partial, { kind: 'summary', part: 0, text: 'why' })
    expect(partial.complete('completed')).toEqual({ type: 'reasoning', summary: ['why'] })
    assembler.text(partial, { kind: 'reasoning', part: 0, text: 'because' })
    expect(partial.complete('completed')).toEqual({ type: 'reasoning', summary: ['why'], content: ['because'] })
  })

  test('announces an item without its text and state, and still knows what it was decoded from', () => {
    const assembler = new ItemAssembler()
    const body = { type: 'reasoning', id: 'rs_1' }
    const item = remember({ type: 'reasoning' as const, id: 'rs_1', summary: ['why'], encrypted_content: 'sealed' }, { dialect: 'x', body })
    assembler.begin(new OpenItem(item))
    const [event] = eventsOf(assembler)
    const announced = event?.type === 'item_started' ? event.item : item
    expect(JSON.stringify(announced)).toBe('{"type":"reasoning","id":"rs_1","summary":[]}')
    expect(originalOf(announced)?.body).toBe(body)
  })

  test('finishes what is whole when another item starts, and the rest with the response', () => {
    const assembler = new ItemAssembler()
    const whole = assembler.begin(new OpenItem(messageShell))
    assembler.setWhole(whole)
    const cut = assembler.begin(new OpenItem(call))
    expect([whole.isFinished, cut.isFinished, [...assembler.open]]).toEqual([true, false, [cut]])
    assembler.settle({ status: 'incomplete', reason: 'max_output_tokens' })
    expect(eventsOf(assembler).at(-1)).toMatchObject({ type: 'item_finished', item: { ...call, status: 'incomplete' } })
  })

  test('ends with its fault, unless the response failed by itself', () => {
    const fault = { status: 'failed', error: { kind: 'unreadable', message: 'fault' } } as const
    const own = { status: 'failed', error: { kind: 'overloaded', message: 'own' } } as const
    const outcomes = ([{ status: 'completed' }, own] as const).map(outcome => {
      const assembler = new ItemAssembler()
      assembler.fault = fault
      assembler.settle(outcome)
      return assembler.outcome
    })
    expect(outcomes).toEqual([fault, own])
  })

  test('gives a complete call without arguments an empty object, but no custom call', () => {
    const written = [call, { ...call, custom: true }].map(item => {
      const assembler = new ItemAssembler()
      const open = assembler.begin(new OpenItem(item))
      assembler.finish(open)
      return open.textOf('arguments')
    })
    expect(written).toEqual(['{}', ''])
  })

  test('drains each event once', () => {
    const assembler = new ItemAssembler()
    assembler.add({ ...reasoningShell, encrypted_content: 'sealed' }, reasoningShell)
    expect(typesOf(eventsOf(assembler))).toEqual(['item_started', 'item_finished'])
    expect(eventsOf(assembler)).toEqual([])
  })

  test('emits deltas that add up to the item that it builds', () => {
    const piece = fc.record({ kind: fc.constantFrom('text' as const, 'refusal' as const), part: fc.nat(3), text: fc.string() })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300 }), pieces => {
        const assembler = new ItemAssembler()
        const partial = assembler.begin(new OpenItem(messageShell))
        for (const delta of pieces) assembler.text(partial, delta)
        const texts = new Map<string, string>()
        for (const event of eventsOf(assembler))
          if (event.type === 'delta' && event.delta.kind !== 'annotation') {
            const { kind, part, text } = event.delta
            texts.set(`${part}:${kind}`, (texts.get(`${part}:${kind}`) ?? '') + text)
          }
        const item = partial.complete('completed')
        const built =
          item.type === 'message'
            ? item.content.map(part => (part.type === 'text' ? part.text : part.type === 'refusal' && part.refusal))
            : []
        expect(built.toSorted()).toEqual([...texts.values()].toSorted())
      }),
    )
  })

  test('emits events that fold back into the same items', () => {
    const assembler = new ItemAssembler()
    const partial = assembler.begin(new OpenItem(call))
    assembler.text(partial, { kind: 'arguments', part: 0, text: '{}' })
    assembler.finish(partial)
    const events: readonly InferenceEvent[] = [
      { type: 'started', id: 'r', model: 'm', created_at: 1 },
      ...eventsOf(assembler),
      { type: 'finished', outcome: { status: 'completed' } },
    ]
    expect(fold(events).output).toEqual([{ ...call, arguments: '{}', status: 'completed' }])
  })
})

test('a call keeps its own id unless that is blank or already used', () => {
  const taken = new Set<string>()
  const ids = ['a', 'a', ''].map((given, at) => callIdFor(taken, given, ['r', at]))
  expect(ids[0]).toBe('a')
  expect(new Set(ids).size).toBe(3)
  expect(callIdFor(new Set(['a']), 'a', ['r', 1])).toBe(ids[1])
})
