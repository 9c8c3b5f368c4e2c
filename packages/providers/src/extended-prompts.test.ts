import { expect, test } from 'vitest'
import { amazonBedrock } from './amazon-bedrock.ts'
import { groq, openrouter, vercelAiGateway } from './hosts.ts'
import { openai } from './openai.ts'
import { perplexity } from './vendors.ts'

const apiKey = 'sk-1'

test.each([
  [groq({ apiKey }), ['compound-beta', 'groq/compound', 'groq/compound-mini'], ['llama-3.3-70b-versatile', 'qwen/qwen3-32b']],
  [openai({ apiKey }), ['gpt-5-search-api', 'gpt-5-search-api-2025-10-14', 'gpt-4o-mini-search-preview'], ['gpt-5', 'gpt-4o', 'gpt-5.4']],
  [openrouter({ apiKey }), ['openai/gpt-5.4:online', 'perplexity/sonar-pro'], ['openai/gpt-5.4', 'qwen/qwen3-max']],
  [vercelAiGateway({ apiKey }), ['perplexity/sonar'], ['openai/gpt-5.4']],
  [perplexity({ apiKey }), ['perplexity/sonar', 'sonar-reasoning-pro'], ['openai/gpt-5.4']],
  [
    amazonBedrock({ region: 'us-east-1' }),
    ['arn:aws:bedrock:us-east-1:111122223333:prompt/PROMPT12345:1'],
    ['anthropic.claude-opus-5', 'arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc'],
  ],
])('$id knows which of its models add to every prompt by themselves', ({ quirksOf }, searching, plain) => {
  for (const model of searching) expect(quirksOf?.(model), model).toMatchObject({ extendsPrompt: true })
  for (const model of plain) expect(quirksOf?.(model)?.extendsPrompt, model).toBeUndefined()
})
