import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { faultsOf, offer, plain } from '../../test/laws.ts'
import { everyEvent, frame } from '../../test/messages-provider-frames.ts'
import { send } from '../../test/messages-provider-sent.ts'
import { fittedNames } from '../common/fitted-names.ts'
import { plainName } from '../common/tool-names.ts'
import { fold, unfold } from '../protocol/fold.ts'
import type { Item, Part } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { messagesProvider } from './provider.ts'
import { decodeReasoningState, encodeReasoningState } from './reasoning-state.ts'
import { maxToolName, safeId } from './tool-names.ts'

const texts = fc.oneof(fc.constantFrom('', ' ', '\n', 'Hi', '<system>', '{"a":1}', '{', '🚂\ud800'), fc.string())

describe('whatever a Messages provider sends', () => {
  const value = fc.oneof(
    fc.constantFrom<Json>(null, '', 0, 1, -1, true, [], {}, 'text', 'thinking', [{}]),
    fc.jsonValue() as fc.Arbitrary<Json>,
  )
  /** An event with one of its fields, or a nested one, replaced. */
  const bent = fc.tuple(fc.constantFrom(...everyEvent), fc.nat(), value, fc.boolean()).map(([event, at, put, isInner]): JsonObject => {
    const key = Object.keys(event)[at % Object.keys(event).length] ?? 'type'
    const inner = event[key]
    const field = isObject(inner) ? Object.keys(inner)[at % Math.max(1, Object.keys(inner).length)] : undefined
    return { ...event, [key]: isInner && isObject(inner) && field !== undefined ? { ...inner, [field]: put } : put }
  })
  const data = fc.oneof(
    { arbitrary: fc.constantFrom(...everyEvent).map(event => JSON.stringify(event)), weight: 8 },
    { arbitrary: bent.map(event => JSON.stringify(event)), weight: 4 },
    { arbitrary: fc.constantFrom('', '[DONE]', '{', 'null', '[]', '{"type":"content_block_delta"'), weight: 1 },
  )

  test('gives one legal stream that starts and ends once, whose deltas add up, and that folds as it unfolds', () => {
    fc.assert(
      fc.property(fc.array(data, { maxLength: 40 }), fc.boolean(), (sent, isAnswer) => {
        const decoder = messagesProvider.decodeEvents(isAnswer ? { answerTool: 'f' } : {})
        const events = [...sent.flatMap(each => decoder.read([{ data: each }])), ...decoder.end()]
        expect(faultsOf(events)).toEqual([])
        expect(decoder.read([frame(everyEvent[0] ?? {})])).toEqual([])
        const response = fold(events)
        expect(plain(fold(unfold(response)))).toEqual(plain(response))
      }),
      { numRuns: inject('isLongRun') ? 3_000 : 300 },
    )
  })

  test('gives a whole response that can be sent back', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(bent, fc.constantFrom(...everyEvent))), value, value, (...[events, usage, stop_reason]) => {
        const content = events.map(({ content_block, delta }) => content_block ?? delta ?? null)
        const { output, outcome } = messagesProvider.decodeResponse({ content, usage, stop_reason })
        expect(outcome.status).toMatch(/completed|incomplete|failed/)
        send({ input: output })
      }),
      { numRuns: inject('isLongRun') ? 1_000 : 300 },
    )
  })
})

describe('whatever a conversation contains', () => {
  const part = fc.oneof(
    texts.map((text): Part => ({ type: 'text', text })),
    texts.map((refusal): Part => ({ type: 'refusal', refusal })),
    texts.map((rest): Part => ({ type: 'image', url: `data:image/png;base64,${rest}` })),
    texts.map((rest): Part => ({ type: 'file', url: `data:${rest}`, cache: {} })),
    texts.map((data): Part => ({ type: 'audio', data, format: 'wav' })),
    texts.map((type): Part => ({ type: 'native', dialect: 'elsewhere', body: { type } })),
  )
  const id = fc.constantFrom('a', 'b:1', 'b/1', 'toolu_1', '')
  const item: fc.Arbitrary<Item> = fc.oneof(
    fc
      .tuple(fc.constantFrom('user', 'assistant', 'system', 'developer'), fc.array(part, { maxLength: 3 }))
      .map(([role, content]): Item => ({ type: 'message', role, content })),
    fc.tuple(id, texts, texts).map(([call_id, name, written]): Item => ({ type: 'function_call', call_id, name, arguments: written })),
    fc
      .tuple(id, fc.oneof(texts, fc.array(part, { maxLength: 2 })))
      .map(([call_id, output]): Item => ({ type: 'function_call_output', call_id, output })),
    texts.map((text): Item => ({ type: 'reasoning', summary: [text], encrypted_content: text })),
  )
  const prompt: fc.Arbitrary<Prompt> = fc.record({
    input: fc.array(item, { maxLength: 12 }),
    max_output_tokens: fc.integer({ min: 1, max: 100_000 }),
    reasoning: fc.record({ effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max') }),
  })
  const quirks: fc.Arbitrary<Quirks> = fc.constantFrom<Quirks[]>(
    {},
    { thinking: ['budget'], thinkingBudget: { min: 1024, max: 32_000 } },
    { thinking: [] },
  )

  test('roles alternate, results come first and match a call by id, and no text is blank', () => {
    fc.assert(
      fc.property(prompt, quirks, (encoded, facts) => {
        const { messages, max_tokens, thinking } = send(encoded, facts, { ...offer, maxOutputTokens: 64_000 })
        for (const [at, { role, content }] of messages.entries()) {
          expect(role).not.toBe(messages[at - 1]?.role)
          const isResult = content.map(({ type }) => type === 'tool_result')
          expect(isResult).toEqual(isResult.toSorted((one, other) => Number(other) - Number(one)))
          for (const block of content) {
            if (block.type === 'text') expect(`${block.text}`.trim()).not.toBe('')
            const given = block.id ?? block.tool_use_id
            if (given !== undefined) expect(given).toMatch(/^[a-zA-Z0-9_-]+$/)
            if (block.type === 'tool_use') expect(isObject(block.input)).toBe(true)
          }
        }
        if (isObject(thinking) && typeof thinking.budget_tokens === 'number')
          expect(thinking.budget_tokens).toBeLessThan(Number(max_tokens))
        expect(Number(max_tokens)).toBeLessThanOrEqual(64_000)
      }),
      { numRuns: inject('isLongRun') ? 1_000 : 300 },
    )
  })
})

test('different ids and different names stay different', () => {
  const odd = fc.oneof(fc.string(), fc.constantFrom('a', 'a:', 'a/', 'a_', 'x'.repeat(128), 'x'.repeat(129), 'x'.repeat(130)))
  fc.assert(
    fc.property(odd, odd, (one, other) => {
      for (const fit of [safeId, safeName]) {
        const { sent } = fittedNames([one, other], fit)
        expect(sent(one) === sent(other)).toBe(one === other)
        expect(sent(one)).toMatch(/^[a-zA-Z0-9_-]+$/)
      }
      expect(safeName(one, 0).length).toBeLessThanOrEqual(128)
    }),
  )
})

const safeName = (name: string, attempt: number): string => plainName(name, attempt, maxToolName)

test('a state is decoded to the same block, whatever it contains', () => {
  fc.assert(
    fc.property(texts, texts, texts, (...[thinking, signature, data]) => {
      for (const block of [
        { type: 'thinking', thinking, signature },
        { type: 'redacted_thinking', data },
      ])
        expect(JSON.stringify(decodeReasoningState(encodeReasoningState(block)))).toBe(JSON.stringify(block))
    }),
  )
})
