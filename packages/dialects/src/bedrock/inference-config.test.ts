import { describe, expect, test } from 'vitest'
import {
  type Asking,
  assistant,
  body,
  called,
  encode,
  look,
  lookSpec,
  offer,
  own,
  type Row,
  reasoning,
  result,
  user,
  warned,
} from '../../test/bedrock-requests.ts'
import type { Item } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt, ToolChoice } from '../protocol/request.ts'
import type { Tool } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { bedrockProvider } from './provider.ts'

describe('the tools of a Bedrock request', () => {
  const config = (asking: Asking) => body({ tools: [look], ...asking }).toolConfig

  test('have a name, a description and a schema', () => {
    expect(config({})).toEqual({ tools: [lookSpec] })
    expect(config({ tools: [{ type: 'function', name: 'now', description: ' ' }] })).toEqual({
      tools: [{ toolSpec: { name: 'now', inputSchema: { json: { type: 'object', properties: {} } } } }],
    })
  })

  test.each<[Prompt['tool_choice'], unknown]>([
    ['auto', { auto: {} }],
    ['required', { any: {} }],
    [{ type: 'function', name: 'look' }, { tool: { name: 'look' } }],
  ])('have the choice %j', (tool_choice, toolChoice) => {
    expect(config({ ...(tool_choice && { tool_choice }) })).toEqual({ tools: [lookSpec], toolChoice })
  })

  test('are left out for the choice `none`', () => {
    expect(config({ tool_choice: 'none' })).toBeUndefined()
    expect(warned({ tools: [look], tool_choice: 'none' })).toEqual([])
  })

  test('stay for the choice `none` if earlier calls used them, with an instruction not to call any', () => {
    const asking: Asking = { tools: [look], tool_choice: 'none', instructions: 'Be brief.', input: [user('x'), called('a'), result('a')] }
    expect(body(asking)).toMatchObject({
      toolConfig: { tools: [lookSpec] },
      system: [{ text: 'Be brief.' }, { text: 'Do not call any tool. Answer in words.' }],
    })
    expect(body(asking).toolConfig).not.toHaveProperty('toolChoice')
    expect(warned(asking)).toEqual(['tool_choice'])
  })

  test('are declared by name if earlier calls used them and the request does not have them', () => {
    const asking: Asking = { input: [user('x'), called('a', 'look'), called('b', 'listen'), result('a'), result('b')] }
    expect(body(asking)).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }, { toolSpec: { name: 'listen' } }] },
      system: [{ text: 'Do not call any tool. Answer in words.' }],
    })
    expect(warned(asking)).toEqual(['tools'])
    expect(body({ input: [user('x'), result('a')] }).toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'tool' } }] })
  })

  test('have the choice `auto` with a warning if forced calls are not supported', () => {
    const quirks: Quirks = { noForcedTools: true }
    expect(config({ quirks, tool_choice: 'required' })).toEqual({ tools: [lookSpec], toolChoice: { auto: {} } })
    expect(warned({ quirks, tools: [look], tool_choice: { type: 'function', name: 'look' } })).toEqual(['tool_choice'])
    expect(warned({ quirks, tools: [look], tool_choice: 'auto' })).toEqual([])
  })

  test('are only those of allowed_tools', () => {
    const listen: Tool = { type: 'function', name: 'listen' }
    const allowed = (mode: string): ToolChoice => ({
      type: 'native',
      dialect: 'responses',
      body: { type: 'allowed_tools', mode, tools: [{ type: 'function', name: 'look' }] },
    })
    expect(config({ tools: [look, listen], tool_choice: allowed('auto') })).toEqual({ tools: [lookSpec], toolChoice: { auto: {} } })
    expect(config({ tools: [listen, look], tool_choice: allowed('required') })).toEqual({ tools: [lookSpec], toolChoice: { any: {} } })
  })

  test('leave out native tools of other dialects, and a choice of one, with a warning', () => {
    const hosted: Tool = { type: 'native', dialect: 'responses', body: { type: 'web_search' } }
    expect(warned({ tools: [look, hosted], tool_choice: hosted })).toEqual(['tools[1]', 'tool_choice'])
    expect(warned({ tools: [hosted], tool_choice: 'required' })).toEqual(['tools[0]', 'tool_choice'])
  })

  test('have adapted strict schemas, and `strict` left out with a warning if it is not supported', () => {
    const strict: Tool = {
      type: 'function',
      name: 'f',
      strict: true,
      parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
    }
    expect(config({ tools: [strict] })).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'f',
            inputSchema: {
              json: { type: 'object', properties: { n: { type: 'integer', description: 'minimum: 1' } }, additionalProperties: false },
            },
            strict: true,
          },
        },
      ],
    })
    expect(warned({ tools: [strict] })).toEqual(['tools[0].parameters'])
    const quirks: Quirks = { refuses: ['strict'] }
    expect(config({ quirks, tools: [strict] })).toMatchObject({
      tools: [{ toolSpec: { inputSchema: { json: { properties: { n: { minimum: 1 } } } } } }],
    })
    expect(warned({ quirks, tools: [strict] })).toEqual(['tools[0].strict'])
  })

  test('disable parallel calls by Anthropic’s own field, and give a warning for other models', () => {
    const quirks: Quirks = { anthropicFields: true }
    const asking: Asking = { quirks, tools: [look], parallel_tool_calls: false }
    expect(body(asking)).toMatchObject({
      toolConfig: { tools: [lookSpec] },
      additionalModelRequestFields: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    })
    expect(own({ ...asking, tool_choice: { type: 'function', name: 'look' } })).toEqual({
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
    })
    expect(body({ ...asking, tool_choice: 'required' }).toolConfig).toEqual({ tools: [lookSpec] })
    expect(warned(asking)).toEqual([])
    expect(warned({ tools: [look], parallel_tool_calls: false })).toEqual(['parallel_tool_calls'])
    expect(warned({ parallel_tool_calls: false })).toEqual([])
  })
})

describe('the response format of a Bedrock request', () => {
  const schema: JsonObject = { type: 'object', properties: { sum: { type: 'number', minimum: 0 } }, required: ['sum'] }
  const text: Prompt['text'] = { format: { type: 'json_schema', name: 'the sum', schema, strict: true, description: 'A sum' } }
  const native: Quirks = { jsonSchema: 'native' }

  test('is an adapted schema in the output config if Bedrock enforces it', () => {
    const { outputConfig } = body({ quirks: native, text })
    expect(outputConfig).toMatchObject({
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: expect.stringMatching(/^the_sum_\w+$/), description: 'A sum' } },
      },
    })
    const { schema: written } = (outputConfig as { textFormat: { structure: { jsonSchema: { schema: string } } } }).textFormat.structure
      .jsonSchema
    expect(JSON.parse(written)).toEqual({
      type: 'object',
      properties: { sum: { type: 'number', description: 'minimum: 0' } },
      required: ['sum'],
      additionalProperties: false,
    })
    expect(warned({ quirks: native, text })).toEqual(['text.format.schema'])
  })

  test('is a forced tool otherwise, whose arguments are the response', () => {
    const { body: sent, mapping, warnings } = encode({ text })
    expect(sent.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'answer', description: 'A sum', inputSchema: { json: schema } } }],
      toolChoice: { tool: { name: 'answer' } },
    })
    expect(mapping).toEqual({ answerTool: 'answer' })
    expect(warnings.map(({ param }) => param)).toEqual(['text.format'])
  })

  test('is one of the client’s tools with a unique name', () => {
    const { body: sent, mapping } = encode({ text, tools: [look, { type: 'function', name: 'answer' }] })
    expect(sent.toolConfig).toMatchObject({
      tools: [lookSpec, { toolSpec: { name: 'answer' } }, { toolSpec: { name: 'answer_' } }],
      toolChoice: { any: {} },
    })
    expect(mapping).toEqual({ answerTool: 'answer_' })
    expect(encode({ text, tools: [look], tool_choice: { type: 'function', name: 'look' } }).body.toolConfig).toMatchObject({
      toolChoice: { tool: { name: 'look' } },
    })
    expect(encode({ text, tools: [look], tool_choice: 'none' }).body.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'answer' } }],
      toolChoice: { tool: { name: 'answer' } },
    })
  })

  test.each<[string, Asking]>([
    ['the model supports only instructions', { quirks: { jsonSchema: 'words' } }],
    ['calls cannot be forced', { quirks: { noForcedTools: true } }],
    ['the model thinks', { reasoning: { effort: 'high' } }],
    ['the schema is not an object', { text: { format: { type: 'json_schema', name: 'x', schema: { type: 'array', items: {} } } } }],
    ['schemas are not supported beside tools', { quirks: { jsonSchema: 'native', jsonSchemaWithoutTools: true }, tools: [look] }],
  ])('is an instruction if %s', (_, asking) => {
    const { body: sent, mapping, warnings } = encode({ text, ...asking })
    expect(sent.system).toEqual([{ text: expect.stringContaining('JSON schema') }])
    expect(mapping).toBeUndefined()
    expect(sent).not.toHaveProperty('outputConfig')
    expect(warnings.map(({ param }) => param)).toContain('text.format')
  })

  test('is an instruction for any JSON object, without a warning', () => {
    expect(body({ text: { format: { type: 'json_object' } } }).system).toEqual([
      { text: 'Answer with one JSON object, and with nothing else.' },
    ])
    expect(warned({ text: { format: { type: 'json_object' } } })).toEqual([])
    expect(body({ text: { format: { type: 'text' } } })).toEqual(body({}))
  })
})

describe('the thinking settings of a Bedrock request', () => {
  const claude: Quirks = { anthropicFields: true, thinking: ['adaptive', 'budget'], efforts: ['low', 'medium', 'high', 'max'] }
  const budget: Quirks = { ...claude, thinking: ['budget'] }
  const sold = { maxOutputTokens: 64_000 }

  test('are left out if the request has none', () => {
    expect(own({ quirks: claude })).toBeUndefined()
    expect(own({ quirks: claude, reasoning: { summary: 'none' } })).toBeUndefined()
  })

  test.each(
    (
      [
        ['adaptive', { reasoning: { effort: 'high' } }, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }, []],
        [
          'adaptive, the nearest level',
          { reasoning: { effort: 'xhigh' } },
          { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
          ['reasoning.effort'],
        ],
        [
          'adaptive, shown',
          { reasoning: { effort: 'low', summary: 'auto' } },
          { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
          [],
        ],
        [
          'adaptive, not shown',
          { reasoning: { effort: 'low', summary: 'none' } },
          { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
          [],
        ],
        [
          'shown, at whatever effort',
          { reasoning: { summary: 'detailed' } },
          { thinking: { type: 'adaptive', display: 'summarized' } },
          [],
        ],
        ['off', { reasoning: { effort: 'none' } }, { thinking: { type: 'disabled' } }, []],
        [
          'never off',
          { quirks: { ...claude, thinkingOff: 'never' }, reasoning: { effort: 'none' } },
          { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
          ['reasoning.effort'],
        ],
        [
          'a budget that was named',
          { reasoning: { effort: 'high', budget_tokens: 5000 }, max_output_tokens: 9000 },
          { thinking: { type: 'enabled', budget_tokens: 5000 } },
          [],
        ],
        [
          'a budget that does not fit',
          { reasoning: { budget_tokens: 9000, effort: 'high' }, max_output_tokens: 9000 },
          { thinking: { type: 'enabled', budget_tokens: 8999 } },
          ['reasoning.budget_tokens'],
        ],
        [
          'a budget where none is taken',
          { quirks: { thinking: ['adaptive'] }, reasoning: { budget_tokens: 9000, effort: 'high' } },
          { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
          ['reasoning.budget_tokens'],
        ],
        [
          'no room for a budget',
          { quirks: budget, reasoning: { effort: 'high', budget_tokens: 2000 }, max_output_tokens: 1000 },
          undefined,
          ['reasoning.effort'],
        ],
        ['a model that does not think', { quirks: { thinking: [] }, reasoning: { effort: 'high' } }, undefined, ['reasoning.effort']],
        ['a model that does not think, off', { quirks: { thinking: [] }, reasoning: { effort: 'none' } }, undefined, []],
        [
          'a level of its own',
          { quirks: { thinking: ['level'], thinkingField: 'reasoning' }, reasoning: { effort: 'none' } },
          { reasoning: { effort: 'none' } },
          [],
        ],
        [
          'a flat level',
          { quirks: { thinking: ['level'] }, reasoning: { effort: 'xhigh' } },
          { reasoning_effort: 'high' },
          ['reasoning.effort'],
        ],
        [
          'Nova’s level',
          { quirks: { thinking: ['level'], thinkingField: 'reasoningConfig' }, reasoning: { effort: 'low' } },
          { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
          [],
        ],
        [
          'Nova, off',
          { quirks: { thinking: ['level'], thinkingField: 'reasoningConfig' }, reasoning: { effort: 'none' } },
          { reasoningConfig: { type: 'disabled' } },
          [],
        ],
        [
          'Nova’s highest level beside a cap',
          { quirks: { thinking: ['level'], thinkingField: 'reasoningConfig' }, reasoning: { effort: 'max' }, max_output_tokens: 9 },
          { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
          ['reasoning.effort'],
        ],
        [
          'a switch',
          { quirks: { thinking: ['toggle'], thinkingSwitch: { on: { think: 1 }, off: { think: 0 } } }, reasoning: { effort: 'high' } },
          { think: 1 },
          ['reasoning.effort'],
        ],
        [
          'a switch, off',
          { quirks: { thinking: ['toggle'], thinkingSwitch: { on: { think: 1 }, off: { think: 0 } } }, reasoning: { effort: 'none' } },
          { think: 0 },
          [],
        ],
        [
          'a switch that nobody knows',
          { quirks: { thinking: ['toggle'] }, reasoning: { effort: 'high' } },
          undefined,
          ['reasoning.effort'],
        ],
      ] satisfies readonly Row[]
    ).map(([name, asking, wanted, params]) => ({ name, asking, wanted, params })),
  )('are $name', ({ asking, wanted, params }) => {
    const prompt: Asking = { quirks: claude, sold, ...asking }
    expect(own(prompt)).toEqual(wanted)
    expect(warned(prompt)).toEqual(params)
  })

  test('take thinking tokens from the cap if there is one, and else add them to the maximum', () => {
    const asking: Asking = { quirks: budget, sold, reasoning: { effort: 'medium' } }
    expect(body({ ...asking, max_output_tokens: 8000 })).toMatchObject({
      inferenceConfig: { maxTokens: 8000 },
      additionalModelRequestFields: { thinking: { budget_tokens: 2400 } },
    })
    expect(warned({ ...asking, max_output_tokens: 1000 })).toHaveLength(1)
    expect(body(asking)).toMatchObject({ inferenceConfig: { maxTokens: 51_200 } })
    expect(body({ ...asking, reasoning: { effort: 'max' } })).toMatchObject({
      inferenceConfig: { maxTokens: 64_000 },
      additionalModelRequestFields: { thinking: { budget_tokens: 60_800 } },
    })
  })

  test('are disabled in a tool loop without reasoning, if the model has a budget', () => {
    const signed = reasoning({ reasoningText: { text: 't', signature: 's' } })
    const loop = (...before: readonly Item[]): Asking => ({
      quirks: budget,
      reasoning: { effort: 'low' },
      tools: [look],
      input: [user('x'), ...before, called('a'), result('a')],
    })
    expect(own(loop())).toEqual({ thinking: { type: 'disabled' } })
    expect(warned(loop())).toEqual(['reasoning.effort'])
    expect(own(loop(signed))).toMatchObject({ thinking: { type: 'enabled' } })
    expect(own({ ...loop(), quirks: claude })).toMatchObject({ thinking: { type: 'adaptive' } })
    const talk = [user('x'), called('a'), result('a'), assistant('Seen.'), user('And now?')]
    expect(own({ ...loop(), input: talk })).toMatchObject({ thinking: { type: 'enabled' } })
  })

  test('exclude a forced call, with a warning', () => {
    const asking: Asking = { quirks: claude, reasoning: { effort: 'low' }, tools: [look], tool_choice: 'required' }
    expect(body(asking).toolConfig).toEqual({ tools: [lookSpec], toolChoice: { auto: {} } })
    expect(warned(asking)).toEqual(['tool_choice'])
    expect(warned({ ...asking, reasoning: { effort: 'none' } })).toEqual([])
  })

  test('give a warning for a summary that the model does not support', () => {
    expect(warned({ reasoning: { effort: 'high', summary: 'auto' } })).toEqual(['reasoning.summary'])
    expect(warned({ quirks: { thinking: ['level'] }, reasoning: { effort: 'high', summary: 'auto' } })).toEqual(['reasoning.summary'])
  })
})

describe('the settings of a Bedrock request', () => {
  const all: Asking = { max_output_tokens: 77, temperature: 0.3, top_p: 0.4, stop: ['END'] }

  test('are sent under Bedrock’s names', () => {
    expect(body(all).inferenceConfig).toEqual({ maxTokens: 77, temperature: 0.3, topP: 0.4, stopSequences: ['END'] })
    expect(body({ stop: [] })).not.toHaveProperty('inferenceConfig')
  })

  test('have the cap lowered to the model’s limit, and the temperature to 1', () => {
    expect(body({ max_output_tokens: 9000, sold: { maxOutputTokens: 4096 } }).inferenceConfig).toEqual({ maxTokens: 4096 })
    expect(warned({ max_output_tokens: 9000, sold: { maxOutputTokens: 4096 } })).toEqual(['max_output_tokens'])
    expect(body({ temperature: 1.7 }).inferenceConfig).toEqual({ temperature: 1 })
    expect(warned({ temperature: 1.7 })).toEqual(['temperature'])
  })

  test('include top_k for Anthropic’s models only', () => {
    expect(own({ quirks: { anthropicFields: true }, top_k: 5 })).toEqual({ top_k: 5 })
    expect(own({ top_k: 5 })).toBeUndefined()
    expect(warned({ top_k: 5 })).toEqual(['top_k'])
  })

  test.each(
    (
      [
        ['that are not supported', { quirks: { sampling: 'none' } }, undefined, ['temperature', 'top_p', 'top_k']],
        ['if one of two is supported', { quirks: { sampling: 'one', anthropicFields: true } }, { temperature: 0.3 }, ['top_p']],
        [
          'that are not supported beside thinking',
          { quirks: { sampling: 'unless_thinking', anthropicFields: true }, reasoning: { effort: 'low' } },
          undefined,
          ['temperature', 'top_p', 'top_k'],
        ],
        [
          'if the model thinks by default',
          { quirks: { sampling: 'unless_thinking', anthropicFields: true } },
          undefined,
          ['temperature', 'top_p', 'top_k'],
        ],
        [
          'if thinking is off',
          { quirks: { sampling: 'unless_thinking', anthropicFields: true }, reasoning: { effort: 'none' } },
          { temperature: 0.3, topP: 0.4 },
          [],
        ],
        [
          'that are limited beside thinking',
          { quirks: { anthropicFields: true }, reasoning: { effort: 'low' }, top_p: 0.97 },
          { topP: 0.97 },
          ['temperature', 'top_k'],
        ],
        [
          'at Nova’s highest effort',
          { quirks: { thinking: ['level'], thinkingField: 'reasoningConfig' }, reasoning: { effort: 'high' } },
          undefined,
          ['temperature', 'top_p', 'top_k'],
        ],
      ] satisfies readonly Row[]
    ).map(([name, asking, wanted, params]) => ({ name, asking, wanted, params })),
  )('include the sampling settings $name', ({ asking, wanted, params }) => {
    const prompt: Asking = { temperature: 0.3, top_p: 0.4, top_k: 5, ...asking }
    expect(body(prompt).inferenceConfig).toEqual(wanted)
    expect(warned(prompt)).toEqual(params)
  })

  test('that the model does not support are left out with a warning, and default values silently', () => {
    const quirks: Quirks = { refuses: ['stop', 'temperature'] }
    expect(body({ quirks, ...all }).inferenceConfig).toEqual({ maxTokens: 77, topP: 0.4 })
    expect(warned({ quirks, ...all })).toEqual(['stop', 'temperature'])
    expect(warned({ quirks, temperature: 1, frequency_penalty: 0, presence_penalty: 0, truncation: 'disabled' })).toEqual([])
  })

  test('that Bedrock does not have are left out with warnings', () => {
    const asking: Asking = {
      frequency_penalty: 0.5,
      presence_penalty: 0.5,
      top_logprobs: 2,
      seed: 1,
      text: { verbosity: 'low' },
      truncation: 'auto',
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      include: ['reasoning.encrypted_content', 'file_search_call.results'],
      native: { type: 'native', dialect: 'chat', body: { logit_bias: {} } },
      metadata: { a: 'b' },
      max_tool_calls: 1,
    }
    expect(body(asking)).toEqual(body({}))
    expect(warned(asking).toSorted()).toEqual([
      'frequency_penalty',
      'include[1]',
      'logit_bias',
      'presence_penalty',
      'prompt_cache_key',
      'safety_identifier',
      'seed',
      'text.verbosity',
      'top_logprobs',
      'truncation',
      'user',
    ])
  })

  test('include a service tier that the offer sells, but not the default tier', () => {
    const withPriority = { price: { input: 1, output: 1, priority: { input: 2, output: 2 } } }
    const quirks: Quirks = { priorityTier: 'priority' }
    expect(body({ service_tier: 'flex' }).serviceTier).toEqual({ type: 'flex' })
    for (const service_tier of ['auto', 'default', 'standard_only']) expect(body({ service_tier })).not.toHaveProperty('serviceTier')
    expect(body({ service_tier: 'priority' })).not.toHaveProperty('serviceTier')
    expect(warned({ service_tier: 'priority' })).toEqual(['service_tier'])
    expect(body({ service_tier: 'priority', sold: withPriority }).serviceTier).toEqual({ type: 'priority' })
    const routing = { models: ['m'] as [string], allow_fallbacks: true, tier: 'priority' as const }
    expect(body({ quirks, sold: withPriority, more: { routing } }).serviceTier).toEqual({ type: 'priority' })
    expect(warned({ quirks, more: { routing } })).toEqual(['gateway.routing.tier'])
  })
})

describe('the cache points of a Bedrock request', () => {
  const input: readonly Item[] = [
    { type: 'message', role: 'system', content: [{ type: 'text', text: 'Rules', cache: { ttl: '1h' } }] },
    user({ type: 'text', text: 'Hi', cache: {} }, { type: 'text', text: '', cache: {} }),
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}', cache: { ttl: '5m' } },
    { type: 'function_call_output', call_id: 'a', output: 'x', cache: {} },
  ]
  const tools: readonly Tool[] = [{ type: 'function', name: 'look', cache: {} }]
  const mark = { cachePoint: { type: 'default' } }

  test('come after the block that they mark, and not after a block that is left out', () => {
    expect(body({ input: input.slice(1), tools })).toMatchObject({
      messages: [
        { content: [{ text: 'Hi' }, mark] },
        { content: [{ toolUse: {} }, { cachePoint: { type: 'default', ttl: '5m' } }] },
        { content: [{ toolResult: {} }, mark] },
      ],
      toolConfig: { tools: [{ toolSpec: {} }, mark] },
    })
    expect(body({ input: input.slice(0, 2) }).system).toEqual([{ text: 'Rules' }, { cachePoint: { type: 'default', ttl: '1h' } }])
    expect((body({ input, tools }).messages as readonly { readonly content: unknown }[])[0]?.content).toHaveLength(2)
  })

  test('are left out with one warning for a model without a cache', () => {
    const quirks: Quirks = { cacheMarks: [] }
    expect(JSON.stringify(body({ quirks, input, tools }))).not.toContain('cachePoint')
    expect(warned({ quirks, input, tools })).toHaveLength(1)
    expect(warned({ quirks })).toEqual([])
  })
})

describe('extensions of a Bedrock request', () => {
  test('are sent beside the gateway’s own fields', () => {
    const asking: Asking = {
      quirks: { thinking: ['level'] },
      reasoning: { effort: 'low' },
      extensions: { guardrailConfig: { guardrailIdentifier: 'g' }, additionalModelRequestFields: { seed: 1 } },
    }
    expect(body(asking)).toMatchObject({
      guardrailConfig: { guardrailIdentifier: 'g' },
      additionalModelRequestFields: { reasoning_effort: 'low', seed: 1 },
    })
  })

  test('replace no field that affects the price', () => {
    const fields = ['messages', 'system', 'toolConfig', 'inferenceConfig', 'serviceTier', 'performanceConfig']
    const asking: Asking = {
      instructions: 'Be brief.',
      max_output_tokens: 7,
      tools: [look],
      extensions: {
        ...Object.fromEntries(fields.map(field => [field, { theirs: 1 }])),
        additionalModelRequestFields: { max_tokens: 9, messages: [] },
      },
    }
    expect(JSON.stringify(body(asking))).not.toContain('theirs')
    expect(own(asking)).toBeUndefined()
    expect(warned(asking).toSorted()).toEqual(
      [
        ...fields.map(field => `extensions.${field}`),
        'extensions.additionalModelRequestFields.max_tokens',
        'extensions.additionalModelRequestFields.messages',
      ].toSorted(),
    )
  })

  test('contain no output cap at any level, under whatever name, but keep a schema that has such a property', () => {
    const schema = { type: 'object', properties: { max_tokens: { type: 'integer' } } }
    const additionalModelRequestFields = {
      inferenceConfig: { maxTokens: 99_999, max_new_tokens: 99_999, topK: 5 },
      textGenerationConfig: { maxTokenCount: '99999' },
      list: [{ max_gen_len: 99_999 }],
      schema,
    }
    const asking: Asking = { max_output_tokens: 7, extensions: { additionalModelRequestFields, other: { deep: { MaxTokens: 99_999 } } } }
    expect(JSON.stringify(body(asking))).not.toContain('99999')
    expect(own(asking)).toEqual({ inferenceConfig: { topK: 5 }, textGenerationConfig: {}, list: [{}], schema })
    expect(warned(asking)).toContain('extensions.additionalModelRequestFields.inferenceConfig.maxTokens')
    expect(warned(asking)).toContain('extensions.other.deep.MaxTokens')
  })

  test('include the betas of a Messages client that Anthropic’s models on Bedrock support', () => {
    const values = { 'anthropic-beta': 'interleaved-thinking-2025-05-14, context-1m-2025-08-07,claude-code-20250219' }
    const more = { headers: { dialect: 'messages', values } }
    expect(own({ quirks: { anthropicFields: true }, more })).toEqual({ anthropic_beta: ['interleaved-thinking-2025-05-14'] })
    expect(own({ more })).toBeUndefined()
    expect(own({ quirks: { anthropicFields: true }, more: { headers: { dialect: 'chat', values } } })).toBeUndefined()
  })
})

describe('the token count request of Bedrock', () => {
  const counting = bedrockProvider.counting

  test('has the same messages, system prompt and tools as the request', () => {
    const request: InferenceRequest = {
      prompt: { input: [user('Hi')], instructions: 'Be brief.', tools: [look], temperature: 0.5, max_output_tokens: 9 },
      routing: { models: ['m'], allow_fallbacks: true },
      delivery: 'whole',
    }
    const { messages, system, toolConfig } = bedrockProvider.encodeRequest(request, offer, {}).body
    expect(counting?.encodeRequest(request, offer, {}).body).toEqual({ input: { converse: { messages, system, toolConfig } } })
  })

  test('returns the count, or undefined if the response has none', () => {
    expect(counting?.decode({ inputTokens: 42 })).toBe(42)
    for (const inputTokens of ['42', -1, 1.5, null]) expect(counting?.decode({ inputTokens })).toBeUndefined()
    expect(counting?.decode({})).toBeUndefined()
  })
})
