import { describe, expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { assistant, call, hello, requestFor, result, send } from '../../test/messages-provider-sent.ts'
import type { Item } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { messagesProvider } from './provider.ts'
import { encodeReasoningState } from './reasoning-state.ts'

describe('max_tokens', () => {
  const cap = (prompt: Partial<Prompt>, quirks: Quirks = {}, most?: number) =>
    send(prompt, quirks, { ...offer, ...(most !== undefined && { maxOutputTokens: most }) }).max_tokens
  test('is the client’s cap, else the model’s limit, else 32,000', () => {
    expect(cap({ max_output_tokens: 77 })).toBe(77)
    expect(cap({}, { defaultMaxTokens: 4096 })).toBe(4096)
    expect(cap({}, {}, 8192)).toBe(8192)
    expect(cap({}, {}, 64_000)).toBe(32_000)
    expect(cap({})).toBe(32_000)
  })
  test('above the model’s limit is lowered with a warning', () => {
    expect(send({ max_output_tokens: 100_000 }, {}, { ...offer, maxOutputTokens: 64_000 })).toMatchObject({
      max_tokens: 64_000,
      warned: ['max_output_tokens'],
    })
  })
})

describe('the thinking settings', () => {
  const think = (reasoning: NonNullable<Prompt['reasoning']>, quirks: Quirks = {}, more: Partial<Prompt> = {}) => {
    const { thinking, output_config, max_tokens, warned } = send({ reasoning, ...more }, quirks, { ...offer, maxOutputTokens: 64_000 })
    return { thinking, output_config, max_tokens, warned }
  }
  const budget: Quirks = { thinking: ['budget'], thinkingBudget: { min: 1024, max: 64_000 } }

  test('are left out if the request has none', () => {
    expect(think({})).toMatchObject({ thinking: undefined, output_config: undefined, warned: [] })
    expect(think({ summary: 'none' })).toMatchObject({ thinking: undefined, warned: [] })
  })
  test.each([
    ['low', 'low', 0],
    ['minimal', 'low', 1],
    ['max', 'max', 0],
    ['xhigh', 'xhigh', 0],
  ] as const)('are adaptive for the effort %s, sent as %s', (effort, level, warnings) => {
    const encoded = think({ effort })
    expect(encoded).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: level }, max_tokens: 32_000 })
    expect(encoded.warned).toHaveLength(warnings)
  })
  test('have the next lower effort that the model supports', () => {
    expect(think({ effort: 'xhigh' }, { efforts: ['low', 'medium', 'high', 'max'] })).toMatchObject({
      output_config: { effort: 'high' },
      warned: ['reasoning.effort'],
    })
  })
  test.each([
    ['auto', { type: 'adaptive', display: 'summarized' }],
    ['none', { type: 'adaptive', display: 'omitted' }],
    [undefined, { type: 'adaptive' }],
  ])('have the display for the summary %s', (summary, thinking) => {
    expect(think({ effort: 'high', ...(summary !== undefined && { summary }) }).thinking).toEqual(thinking)
  })
  test('are adaptive without an effort for a summary alone', () => {
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
  ] as const)('have a budget for the effort %s in proportion to the maximum output: %i', (effort, tokens) => {
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
  ] as const)('keep the client’s cap, and take a share of it for the effort %s: %i', (effort, tokens) => {
    expect(think({ effort }, budget, { max_output_tokens: 8000 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: tokens },
      max_tokens: 8000,
      warned: [],
    })
  })
  test('have a budget below max_tokens', () => {
    expect(think({ effort: 'max' }, budget)).toMatchObject({ thinking: { budget_tokens: 60_800 }, max_tokens: 64_000 })
    const narrow: Quirks = { thinking: ['budget'], thinkingBudget: { min: 1024, max: 8192 } }
    const { body } = messagesProvider.encodeRequest(
      requestFor({ reasoning: { effort: 'max' } }),
      { ...offer, maxOutputTokens: 4096 },
      { ...narrow, defaultMaxTokens: 10 },
    )
    expect(body).toMatchObject({ max_tokens: 3901, thinking: { budget_tokens: 3891 } })
  })
  test('have the client’s own budget if the model supports budgets, within the cap', () => {
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
  test('are disabled if the cap is too small for thinking', () => {
    expect(think({ effort: 'high', budget_tokens: 1024 }, budget, { max_output_tokens: 500 })).toMatchObject({
      thinking: { type: 'disabled' },
      max_tokens: 500,
      warned: ['reasoning.effort'],
    })
  })
  test.each<[Quirks['thinkingOff'], JsonObject, number]>([
    [undefined, { type: 'disabled' }, 0],
    ['always', { type: 'disabled' }, 0],
    ['up_to_high', { type: 'disabled' }, 0],
    ['never', { type: 'adaptive' }, 1],
  ])('are disabled for the effort `none` if the model supports it: %s', (thinkingOff, thinking, warnings) => {
    const encoded = think({ effort: 'none' }, thinkingOff === undefined ? {} : { thinkingOff })
    expect(encoded.thinking).toEqual(thinking)
    expect(encoded.warned).toHaveLength(warnings)
    if (warnings > 0) expect(encoded.output_config).toEqual({ effort: 'low' })
  })
  test('are left out for a model without thinking, with a warning unless the effort is `none`', () => {
    expect(think({ effort: 'high' }, { thinking: [] })).toMatchObject({ thinking: undefined, warned: ['reasoning.effort'] })
    expect(think({ summary: 'auto' }, { thinking: [] })).toMatchObject({ thinking: undefined, warned: ['reasoning.summary'] })
    expect(think({ effort: 'none' }, { thinking: [] })).toMatchObject({ thinking: undefined, warned: [] })
  })
  test('are enabled for a model with a toggle, with a warning about the effort', () => {
    expect(think({ effort: 'high' }, { thinking: ['toggle'] })).toMatchObject({
      thinking: { type: 'enabled' },
      warned: ['reasoning.effort'],
    })
  })
  test('are disabled in a tool loop without the model’s own thinking, if it has a budget', () => {
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

describe('the sampling settings', () => {
  const sample = (prompt: Partial<Prompt>, quirks: Quirks = {}) => {
    const { temperature, top_p, top_k, warned } = send(prompt, quirks)
    return { temperature, top_p, top_k, warned }
  }
  const all = { temperature: 0.3, top_p: 0.5, top_k: 7 }
  test('are sent, with the temperature clamped to 1', () => {
    expect(sample(all)).toEqual({ ...all, warned: [] })
    expect(sample({ temperature: 1.5 })).toMatchObject({ temperature: 1, warned: ['temperature'] })
  })
  test.each<[Quirks, Partial<Prompt>, Partial<typeof all>, readonly string[]]>([
    [{ sampling: 'one' }, all, { temperature: 0.3, top_k: 7 }, ['top_p']],
    [{ sampling: 'one' }, { top_p: 0.5 }, { top_p: 0.5 }, []],
    [{ sampling: 'none' }, { ...all, temperature: 1.5 }, {}, ['temperature', 'top_p', 'top_k']],
    [{ sampling: 'none' }, { temperature: 1, top_p: 1 }, {}, []],
    [{ sampling: 'unless_thinking' }, all, {}, ['temperature', 'top_p', 'top_k']],
    [{ sampling: 'unless_thinking', thinksUnasked: false }, all, all, []],
    [{ sampling: 'unless_thinking' }, { ...all, reasoning: { effort: 'none' } }, all, []],
    [{}, { ...all, reasoning: { effort: 'low' } }, {}, ['temperature', 'top_p', 'top_k']],
    [{}, { ...all, top_p: 0.95, reasoning: { effort: 'low' } }, { top_p: 0.95 }, ['temperature', 'top_k']],
  ])('with %j and %j are sent as %j', (...[quirks, prompt, sent, warned]) => {
    expect(sample(prompt, quirks)).toEqual({ temperature: undefined, top_p: undefined, top_k: undefined, ...sent, warned })
  })
})
