import { azure, openai } from '@signalbox/providers'
import { describe, expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'

// Fields that both APIs of one vendor have reach it from either of its clients.

const shared = { prompt_cache_options: { mode: 'explicit' }, prompt_cache_retention: '24h', moderation: { model: 'm' } } as const
const breakpoint = { mode: 'explicit' }
const fromChat = chatClient.decodeRequest({
  model: 'm',
  ...shared,
  logit_bias: { 1: 2 },
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: breakpoint }] }],
})
const fromResponses = responsesClient.decodeRequest({
  model: 'm',
  ...shared,
  context_management: [{ type: 'compaction' }],
  input: [
    { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.', prompt_cache_breakpoint: breakpoint }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look.' },
        { type: 'input_image', image_url: 'https://a.example/1.png', prompt_cache_breakpoint: breakpoint },
      ],
    },
  ],
})

const sent = (name: 'chat' | 'responses', request: InferenceRequest, quirks: Quirks = {}) => {
  const { body, warnings } = providerDialects[name].encodeRequest(request, offer, quirks)
  return { body, params: warnings.map(({ param }) => param) }
}
const openaiQuirks = openai({ apiKey: 'k' }).quirks ?? {}

describe('cache options of OpenAI', () => {
  test('of a chat client reach its Responses API, with their breakpoints', () => {
    const { body, params } = sent('responses', fromChat, openaiQuirks)
    expect(body).toMatchObject({ ...shared, input: [{ content: [{ type: 'input_text', prompt_cache_breakpoint: breakpoint }] }] })
    expect(params).toEqual(['logit_bias'])
  })

  test('of a Responses client reach its Chat Completions, with their breakpoints', () => {
    const { body, params } = sent('chat', fromResponses, openaiQuirks)
    expect(body).toMatchObject({
      ...shared,
      messages: [
        { content: [{ type: 'text', text: 'Be brief.', prompt_cache_breakpoint: breakpoint }] },
        {
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', prompt_cache_breakpoint: breakpoint },
          ],
        },
      ],
    })
    expect(JSON.stringify(body).split('prompt_cache_breakpoint')).toHaveLength(3)
    expect(params).toEqual(['context_management'])
  })

  test('reach no other vendor, and are named in warnings', () => {
    for (const { body, params } of [sent('responses', fromChat), sent('chat', fromResponses)]) {
      expect(JSON.stringify(body)).not.toMatch(/prompt_cache_o|prompt_cache_r/)
      expect(params).toEqual(expect.arrayContaining(Object.keys(shared)))
    }
    expect(JSON.stringify(sent('chat', fromResponses).body)).not.toContain('prompt_cache_breakpoint')
    expect(sent('chat', fromResponses).params).toContain('input[0].content[0]')
  })

  test('reach models of OpenAI at Azure, but not those of other vendors there', () => {
    const provider = azure({ apiKey: 'k', resource: 'contoso' })
    const quirksOf = (model: string) => ({ ...provider.quirks, ...provider.quirksOf?.(model) })
    expect(sent('responses', fromChat, quirksOf('gpt-5.6-sol')).body).toMatchObject({ prompt_cache_retention: '24h' })
    expect(sent('chat', fromResponses, quirksOf('grok-4.6')).params).toContain('prompt_cache_retention')
  })
})
