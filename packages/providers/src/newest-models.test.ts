import { expect, test } from 'vitest'
import { geminiQuirks } from './gemini-models.ts'
import { openaiQuirksOf } from './openai-models.ts'

test.each(['gpt-6.2-astra', 'gpt-6.2-sol', 'gpt-6.1-sol', 'gpt-6.5', 'gpt-7-nova', 'gpt-10'])(
  '%s has what the newest models of OpenAI accept',
  model => {
    expect(openaiQuirksOf(model)).toMatchObject({
      toolsInResponses: true,
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
      sampling: 'unless_thinking',
    })
  },
)

test.each(['gpt-5.6-sol', 'gpt-6-sol', 'gpt-6-luna', 'gpt-6.1-terra'])('%s takes tools in Chat Completions, and need not reason', model => {
  expect(openaiQuirksOf(model)).not.toHaveProperty('toolsInResponses')
  expect(openaiQuirksOf(model)).not.toHaveProperty('efforts')
})

test.each(['gemini-4-hydrogen', 'gemini-4-neon'])('%s thinks at xhigh, which the larger models do not know', model => {
  expect(geminiQuirks(model, []).efforts).toEqual(['low', 'medium', 'high', 'xhigh'])
  expect(geminiQuirks('gemini-4-carbon', []).efforts).toEqual(['low', 'medium', 'high'])
})
