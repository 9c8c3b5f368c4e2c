import { describe, expect, test } from 'vitest'
import { offer } from '../../../test/dialects/laws.ts'
import { assistant, call, hello, requestFor, result, send } from '../../../test/dialects/messages-provider-sent.ts'
import type { Item } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { messagesProvider } from '../index.ts'
import { encodeReasoningState } from './reasoning-state.ts'

describe('how long the answer may become', () => {
  const cap = (prompt: Partial<Prompt>, quirks: Quirks = {}, most?: number) =>
    send(prompt, quirks, { ...offer, ...(most !== undefined && { max_output_tokens: most }) }).max_tokens
  test('what the caller says, else what the model is known to take, else 32,000', () => {
    expect(cap({ max_output_tokens: 77 })).toBe(77)
    expect(cap({}, { default_max_tokens: 4096 })).toBe(4096)
    expect(cap({}, {}, 8192)).toBe(8192)
    expect(cap({}, {}, 64_000)).toBe(32_000)
    expect(cap({})).toBe(32_000)
  })
  test('more than the model can write is lowered, and named', () => {
    expect(send({ max_output_tokens: 100_000 }, {}, { ...offer, max_output_tokens: 64_000 })).toMatchObject({
      max_tokens: 64_000,
      warned: ['max_output_tokens'],
    })
  })
})

describe('thinking', () => {
  const think = (reasoning: NonNullable<Prompt['reasoning']>, quirks: Quirks = {}, more: Partial<Prompt> = {}) => {
    const { thinking, output_config, max_tokens, warned } = send({ reasoning, ...more }, quirks, { ...offer, max_output_tokens: 64_000 })
    return { thinking, output_config, max_tokens, warned }
  }
  const budget: Quirks = { thinking: ['budget'], thinking_budget: { min: 1024, max: 64_000 } }

  test('nothing is asked where nobody asked', () => {
    expect(think({})).toMatchObject({ thinking: undefined, output_config: undefined, warned: [] })
    expect(think({ summary: 'none' })).toMatchObject({ thinking: undefined, warned: [] })
  })
  test.each([
    ['low', 'low', 0],
    ['minimal', 'low', 1],
    ['max', 'max', 0],
    ['xhigh', 'xhigh', 0],
  ] as const)('adaptive, effort %s → %s', (effort, level, warnings) => {
    const asked = think({ effort })
    expect(asked).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: level }, max_tokens: 32_000 })
    expect(asked.warned).toHaveLength(warnings)
  })
  test('an effort that the model does not know moves to the next lower', () => {
    expect(think({ effort: 'xhigh' }, { efforts: ['low', 'medium', 'high', 'max'] })).toMatchObject({
      output_config: { effort: 'high' },
      warned: ['reasoning.effort'],
    })
  })
  test.each([
    ['auto', { type: 'adaptive', display: 'summarized' }],
    ['none', { type: 'adaptive', display: 'omitted' }],
    [undefined, { type: 'adaptive' }],
  ])('a summary of %s decides what is shown', (summary, thinking) => {
    expect(think({ effort: 'high', ...(summary !== undefined && { summary }) }).thinking).toEqual(thinking)
  })
  test('a summary alone is thinking without a level', () => {
    expect(think({ summary: 'detailed' })).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: undefined,
    })
  })
  test.each([
    ['minimal', 1280],
    ['low', 6400],
    ['medium', 19_200],
    ['high', 38_400],
    ['xhigh', 57_600],
    ['max', 60_800],
  ] as const)('a budget for effort %s is a share of the longest answer: %i', (effort, tokens) => {
    expect(think({ effort }, budget)).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: tokens },
      max_tokens: Math.min(32_000 + tokens, 64_000),
      output_config: undefined,
      warned: [],
    })
  })
  test.each([
    ['low', 1024],
    ['medium', 2400],
    ['high', 4800],
    ['max', 7600],
  ] as const)('a cap is never raised for thoughts: effort %s takes its share of it, %i', (effort, tokens) => {
    expect(think({ effort }, budget, { max_output_tokens: 8000 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: tokens },
      max_tokens: 8000,
      warned: [],
    })
  })
  test('a budget is never as long as the whole answer', () => {
    expect(think({ effort: 'max' }, budget)).toMatchObject({ thinking: { budget_tokens: 60_800 }, max_tokens: 64_000 })
    const narrow: Quirks = { thinking: ['budget'], thinking_budget: { min: 1024, max: 8192 } }
    const { body } = messagesProvider.encodeRequest(
      requestFor({ reasoning: { effort: 'max' } }),
      { ...offer, max_output_tokens: 4096 },
      { ...narrow, default_max_tokens: 10 },
    )
    expect(body).toMatchObject({ max_tokens: 3901, thinking: { budget_tokens: 3891 } })
  })
  test('a caller’s own budget counts into its cap, and is kept where the model takes one', () => {
    const either: Quirks = { ...budget, thinking: ['adaptive', 'budget'] }
    expect(think({ effort: 'high', budget_tokens: 5000 }, either, { max_output_tokens: 8000 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 5000 },
      max_tokens: 8000,
      warned: [],
    })
    expect(think({ effort: 'high', budget_tokens: 9000 }, either, { max_output_tokens: 8000 })).toMatchObject({
      thinking: { budget_tokens: 7999 },
      warned: ['reasoning.budget_tokens'],
    })
    expect(think({ effort: 'high', budget_tokens: 5000 }, { thinking: ['adaptive'] })).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      warned: ['reasoning.budget_tokens'],
    })
  })
  test('where the cap leaves no room for thoughts, they are switched off', () => {
    expect(think({ effort: 'high', budget_tokens: 1024 }, budget, { max_output_tokens: 500 })).toMatchObject({
      thinking: { type: 'disabled' },
      max_tokens: 500,
      warned: ['reasoning.effort'],
    })
  })
  test.each<[Quirks['thinking_off'], JsonObject, number]>([
    [undefined, { type: 'disabled' }, 0],
    ['always', { type: 'disabled' }, 0],
    ['up_to_high', { type: 'disabled' }, 0],
    ['never', { type: 'adaptive' }, 1],
  ])('none, where it can be switched off %s', (thinking_off, thinking, warnings) => {
    const asked = think({ effort: 'none' }, thinking_off === undefined ? {} : { thinking_off })
    expect(asked.thinking).toEqual(thinking)
    expect(asked.warned).toHaveLength(warnings)
    if (warnings > 0) expect(asked.output_config).toEqual({ effort: 'low' })
  })
  test('a model that does not think is asked without, and that is named unless it was wished', () => {
    expect(think({ effort: 'high' }, { thinking: [] })).toMatchObject({ thinking: undefined, warned: ['reasoning.effort'] })
    expect(think({ summary: 'auto' }, { thinking: [] })).toMatchObject({ thinking: undefined, warned: ['reasoning.summary'] })
    expect(think({ effort: 'none' }, { thinking: [] })).toMatchObject({ thinking: undefined, warned: [] })
  })
  test('one that can only be switched on is', () => {
    expect(think({ effort: 'high' }, { thinking: ['toggle'] })).toMatchObject({
      thinking: { type: 'enabled' },
      warned: ['reasoning.effort'],
    })
  })
  test('a tool loop of another model’s turns budgeted thinking off; one’s own goes on', () => {
    const loop = [hello, call('a'), result('a')]
    expect(think({ effort: 'high' }, budget, { input: loop })).toMatchObject({
      thinking: { type: 'disabled' },
      warned: ['reasoning.effort'],
    })
    expect(think({ effort: 'high' }, budget, { input: [...loop, hello] })).toMatchObject({ thinking: { type: 'disabled' } })
    const own: Item = {
      type: 'reasoning',
      summary: [],
      encrypted_content: encodeReasoningState({ type: 'thinking', thinking: 't', signature: 's' }),
    }
    expect(think({ effort: 'high' }, budget, { input: [hello, own, call('a'), result('a')] })).toMatchObject({
      thinking: { type: 'enabled' },
    })
    expect(think({ effort: 'high' }, budget, { input: [...loop, assistant('x'), hello] })).toMatchObject({ thinking: { type: 'enabled' } })
    expect(think({ effort: 'high' }, {}, { input: loop })).toMatchObject({ thinking: { type: 'adaptive' }, warned: [] })
  })
})

describe('sampling', () => {
  const sample = (prompt: Partial<Prompt>, quirks: Quirks = {}) => {
    const { temperature, top_p, top_k, warned } = send(prompt, quirks)
    return { temperature, top_p, top_k, warned }
  }
  const all = { temperature: 0.3, top_p: 0.5, top_k: 7 }
  test('goes on, its temperature clamped to 1', () => {
    expect(sample(all)).toEqual({ ...all, warned: [] })
    expect(sample({ temperature: 1.5 })).toMatchObject({ temperature: 1, warned: ['temperature'] })
  })
  test.each<[Quirks, Partial<Prompt>, Partial<typeof all>, readonly string[]]>([
    [{ sampling: 'one' }, all, { temperature: 0.3, top_k: 7 }, ['top_p']],
    [{ sampling: 'one' }, { top_p: 0.5 }, { top_p: 0.5 }, []],
    [{ sampling: 'none' }, { ...all, temperature: 1.5 }, {}, ['temperature', 'top_p', 'top_k']],
    [{ sampling: 'none' }, { temperature: 1, top_p: 1 }, {}, []],
    [{ sampling: 'unless_thinking' }, all, {}, ['temperature', 'top_p', 'top_k']],
    [{ sampling: 'unless_thinking', thinks_unasked: false }, all, all, []],
    [{ sampling: 'unless_thinking' }, { ...all, reasoning: { effort: 'none' } }, all, []],
    [{}, { ...all, reasoning: { effort: 'low' } }, {}, ['temperature', 'top_p', 'top_k']],
    [{}, { ...all, top_p: 0.95, reasoning: { effort: 'low' } }, { top_p: 0.95 }, ['temperature', 'top_k']],
  ])('with %j, %j is sent as %j', (...[quirks, prompt, sent, warned]) => {
    expect(sample(prompt, quirks)).toEqual({ temperature: undefined, top_p: undefined, top_k: undefined, ...sent, warned })
  })
})
