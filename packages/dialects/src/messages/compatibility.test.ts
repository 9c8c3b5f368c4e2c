import { describe, expect, test } from 'vitest'
import { claudeQuirks } from '../../../providers/src/claude-models.ts'
import type { Quirks } from '../protocol/model.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { messagesClient } from './client.ts'
import { messagesProvider } from './provider.ts'

const marked = { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }
const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }]

interface Case {
  readonly model: string
  readonly fields: JsonObject
  readonly expected: JsonObject
  readonly warned: readonly string[]
}

function sent(fields: JsonObject, quirks: Quirks): { readonly body: JsonObject; readonly warned: readonly (string | undefined)[] } {
  const request = messagesClient.decodeRequest({ model: 'm', max_tokens: 9000, messages: [marked], unheard_of: 1, ...fields })
  const offer = { provider: 'p', model: 'm', api: 'messages', maxOutputTokens: 64_000 }
  const { body, warnings } = messagesProvider.encodeRequest(request, offer, quirks)
  return { body, warned: warnings.map(({ param }) => param) }
}
const of = (model: string): Quirks => claudeQuirks(model) ?? {}

describe('a Messages request for another model', () => {
  test.each<readonly [string, Case]>([
    [
      'adaptive thinking becomes a budget if the model supports only budgets',
      {
        model: 'claude-haiku-4-5',
        fields: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
        expected: { thinking: { type: 'enabled', budget_tokens: 5400 }, output_config: undefined },
        warned: [],
      },
    ],
    [
      'a thinking setting without a counterpart is left out with a warning',
      {
        model: 'claude-haiku-4-5',
        fields: { thinking: { type: 'adaptive', display: 'omitted' } },
        expected: { thinking: undefined },
        warned: ['reasoning'],
      },
    ],
    [
      'a budget becomes the nearest effort if the model thinks adaptively',
      {
        model: 'claude-opus-5-5',
        fields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
        expected: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } },
        warned: ['reasoning.budget_tokens'],
      },
    ],
    [
      'a budget becomes adaptive thinking for every model since 4.7',
      {
        model: 'claude-opus-4-7',
        fields: { thinking: { type: 'enabled', budget_tokens: 8000 } },
        expected: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
        warned: ['reasoning.budget_tokens'],
      },
    ],
    [
      'a temperature is left out since 4.7, also with thinking turned off',
      {
        model: 'claude-sonnet-5',
        fields: { thinking: { type: 'disabled' }, temperature: 0.3 },
        expected: { thinking: { type: 'disabled' }, temperature: undefined },
        warned: ['temperature'],
      },
    ],
    [
      'a forced call and a temperature are left out if the model does not support them',
      {
        model: 'claude-opus-5-5',
        fields: { temperature: 0.5, tools, tool_choice: { type: 'any' } },
        expected: { temperature: undefined, tool_choice: { type: 'auto' } },
        warned: ['tool_choice', 'temperature'],
      },
    ],
    [
      'top_p is left out if the model accepts only one sampling setting',
      {
        model: 'claude-sonnet-4-5',
        fields: { temperature: 0.4, top_p: 0.9 },
        expected: { temperature: 0.4, top_p: undefined },
        warned: ['top_p'],
      },
    ],
    [
      'a cap above the model’s limit is lowered',
      { model: 'claude-opus-5', fields: { max_tokens: 90_000 }, expected: { max_tokens: 64_000 }, warned: ['max_output_tokens'] },
    ],
  ])('%s', (_, { model, fields, expected, warned }) => {
    const written = sent(fields, of(model))
    expect({ ...written.body, ...pick(written.body, expected) }).toMatchObject(expected)
    expect(written.warned).toEqual(warned)
    // Unrelated fields are unchanged.
    expect(written.body).toMatchObject({ messages: [marked], unheard_of: 1 })
  })

  test('settings that the model supports are sent unchanged', () => {
    const fields = { thinking: { type: 'adaptive' }, output_config: { effort: 'high' }, tools, tool_choice: { type: 'auto' } }
    expect(sent(fields, of('claude-opus-5'))).toEqual({
      body: { model: 'm', max_tokens: 9000, messages: [marked], unheard_of: 1, ...fields, stream: false },
      warned: [],
    })
  })

  test('all settings for an unknown model are sent unchanged', () => {
    const fields = { thinking: { type: 'enabled', budget_tokens: 2000 }, temperature: 0.5, tools, tool_choice: { type: 'any' } }
    expect(sent(fields, {}).body).toMatchObject(fields)
  })
})

/** The same fields, including absent ones. */
const pick = (body: JsonObject, like: JsonObject): JsonObject => Object.fromEntries(Object.keys(like).map(field => [field, body[field]]))
