import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { InferenceEvent } from '../protocol/event.ts'
import { fold } from '../protocol/fold.ts'
import type { FunctionCallItem } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import { callIdFor } from './ids.ts'
import {
  announceItem,
  appendAnnotation,
  appendDelta,
  appendText,
  assembledItem,
  bufferedText,
  createItemAssembler,
  drainEvents,
  emitItem,
  finishItem,
  messageShell,
  partialItem,
  reasoningShell,
  startItem,
  textBuffer,
} from './item-assembler.ts'

const call: FunctionCallItem = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '' }
const typesOf = (events: readonly InferenceEvent[]) => events.map(({ type }) => type)

describe('the item assembler', () => {
  test('numbers items in the order in which they are announced, not in which they are opened', () => {
    const assembler = createItemAssembler()
    const late = partialItem(call)
    const first = startItem(assembler, messageShell)
    announceItem(assembler, late)
    expect([first.index, late.index, assembler.count]).toEqual([0, 1, 2])
  })

  test('keeps the text of an unannounced item, and emits it with the announcement', () => {
    const assembler = createItemAssembler()
    const partial = partialItem(call)
    for (const text of ['{"a"', ':1}']) appendDelta(assembler, partial, { kind: 'arguments', part: 0, text })
    expect(drainEvents(assembler)).toEqual([])
    announceItem(assembler, partial)
    announceItem(assembler, partial)
    expect(drainEvents(assembler)).toMatchObject([
      { type: 'item_started', index: 0, item: { ...call, status: 'in_progress' } },
      { type: 'delta', index: 0, delta: { kind: 'arguments', part: 0, text: '{"a":1}' } },
    ])
  })

  test('never emits the end of an item that was not announced', () => {
    const assembler = createItemAssembler()
    const partial = partialItem(call)
    finishItem(assembler, partial, call)
    expect(partial.finished).toBe(true)
    expect(drainEvents(assembler)).toEqual([])
  })

  test('builds a message from its numbered parts, with annotations and log probabilities', () => {
    const assembler = createItemAssembler()
    const partial = startItem(assembler, messageShell)
    appendDelta(assembler, partial, { kind: 'refusal', part: 1, text: 'no' })
    appendDelta(assembler, partial, { kind: 'text', part: 0, text: 'he', logprobs: [{ token: 'he' }] })
    appendDelta(assembler, partial, { kind: 'text', part: 0, text: 'llo' })
    appendAnnotation(assembler, partial, { kind: 'annotation', part: 0, annotation: { type: 'url_citation' } })
    expect(assembledItem(partial, 'completed')).toEqual({
      ...messageShell,
      status: 'completed',
      content: [
        { type: 'text', text: 'hello', annotations: [{ type: 'url_citation' }], logprobs: [{ token: 'he' }] },
        { type: 'refusal', refusal: 'no' },
      ],
    })
  })

  test('builds a reasoning item from its summary and its raw text, and omits what did not arrive', () => {
    const assembler = createItemAssembler()
    const partial = startItem(assembler, reasoningShell)
    appendDelta(assembler, partial, { kind: 'summary', part: 0, text: 'why' })
    expect(assembledItem(partial, 'completed')).toEqual({ type: 'reasoning', summary: ['why'] })
    appendDelta(assembler, partial, { kind: 'reasoning', part: 0, text: 'because' })
    expect(assembledItem(partial, 'completed')).toEqual({ type: 'reasoning', summary: ['why'], content: ['because'] })
  })

  test('announces an item without its text and state, and still knows what it was decoded from', () => {
    const assembler = createItemAssembler()
    const body = { type: 'reasoning', id: 'rs_1' }
    const item = remember({ type: 'reasoning' as const, id: 'rs_1', summary: ['why'], encrypted_content: 'sealed' }, { dialect: 'x', body })
    startItem(assembler, item)
    const [event] = drainEvents(assembler)
    const announced = event?.type === 'item_started' ? event.item : item
    expect(JSON.stringify(announced)).toBe('{"type":"reasoning","id":"rs_1","summary":[]}')
    expect(originalOf(announced)?.body).toBe(body)
  })

  test('drains each event once', () => {
    const assembler = createItemAssembler()
    emitItem(assembler, { ...reasoningShell, encrypted_content: 'sealed' }, reasoningShell)
    expect(typesOf(drainEvents(assembler))).toEqual(['item_started', 'item_finished'])
    expect(drainEvents(assembler)).toEqual([])
  })

  test('emits deltas that add up to the item that it builds', () => {
    const piece = fc.record({ kind: fc.constantFrom('text' as const, 'refusal' as const), part: fc.nat(3), text: fc.string() })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300 }), pieces => {
        const assembler = createItemAssembler()
        const partial = startItem(assembler, messageShell)
        for (const delta of pieces) appendDelta(assembler, partial, delta)
        const texts = new Map<string, string>()
        for (const event of drainEvents(assembler))
          if (event.type === 'delta' && event.delta.kind !== 'annotation') {
            const { kind, part, text } = event.delta
            texts.set(`${part}:${kind}`, (texts.get(`${part}:${kind}`) ?? '') + text)
          }
        const item = assembledItem(partial, 'completed')
        const built =
          item.type === 'message'
            ? item.content.map(part => (part.type === 'text' ? part.text : part.type === 'refusal' && part.refusal))
            : []
        expect(built.toSorted()).toEqual([...texts.values()].toSorted())
      }),
    )
  })

  test('emits events that fold back into the same items', () => {
    const assembler = createItemAssembler()
    const partial = startItem(assembler, call)
    appendDelta(assembler, partial, { kind: 'arguments', part: 0, text: '{}' })
    finishItem(assembler, partial, assembledItem(partial, 'completed'))
    const events: readonly InferenceEvent[] = [
      { type: 'started', id: 'r', model: 'm', created_at: 1 },
      ...drainEvents(assembler),
      { type: 'finished', outcome: { status: 'completed' } },
    ]
    expect(fold(events).output).toEqual([{ ...call, arguments: '{}', status: 'completed' }])
  })
})

describe('a text buffer', () => {
  test('contains what was appended to it, however it was split', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 400 }), pieces => {
        const buffer = textBuffer()
        for (const piece of pieces) appendText(buffer, piece)
        const whole = pieces.join('')
        expect([bufferedText(buffer), buffer.length, bufferedText(buffer)]).toEqual([whole, whole.length, whole])
      }),
    )
  })

  test('keeps few pieces, however many arrive', () => {
    const buffer = textBuffer()
    for (let at = 0; at < 10_000; at++) appendText(buffer, 'a')
    expect(buffer.pieces.length).toBeLessThanOrEqual(64)
  })

  test('keeps a long text in few groups', () => {
    const buffer = textBuffer('begun ')
    for (let at = 0; at < 10_000; at++) appendText(buffer, 'word ')
    expect(buffer.groups.length).toBeLessThanOrEqual(12)
    expect(bufferedText(buffer)).toBe(`begun ${'word '.repeat(10_000)}`)
    expect(buffer.groups.length).toBe(1)
  })
})

test('a call keeps its own id unless that is blank or already used', () => {
  const taken = new Set<string>()
  const ids = ['a', 'a', ''].map((given, at) => callIdFor(taken, given, ['r', at]))
  expect(ids[0]).toBe('a')
  expect(new Set(ids).size).toBe(3)
  expect(callIdFor(new Set(['a']), 'a', ['r', 1])).toBe(ids[1])
})
