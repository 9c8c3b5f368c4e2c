import type { Provider } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { amazonBedrock } from './amazon-bedrock.ts'
import { claudeOnAws } from './anthropic.ts'
import { azure } from './azure.ts'
import { cloudflare } from './cloudflare.ts'
import { compatible } from './compatible.ts'
import { googleVertex } from './google-vertex.ts'
import * as known from './index.ts'
import { isVendor } from './vendor.ts'

const vendors = Object.values<unknown>(known).filter(isVendor)
type Make = (options: Record<string, string>) => Provider
const factories: readonly (readonly [call: string, make: Make])[] = [
  ...vendors.map(make => [make.row.id, make as Make] as const),
  ['openai', known.openai as Make],
  ['anthropic', known.anthropic as Make],
  ['google', known.google as Make],
  ['googleVertex', googleVertex as Make],
  ['amazonBedrock', amazonBedrock as Make],
  ['azure', azure as Make],
  ['cloudflare', cloudflare as Make],
  ['claudeOnAws', claudeOnAws as Make],
  ['compatible', options => compatible({ id: 'x', baseURL: 'http://127.0.0.1/v1', ...options })],
]

describe.each(factories)('%s', (call, make) => {
  test('refuses a key in quotes, without showing it', () => {
    for (const quote of ['"', "'"]) {
      const start = (): Provider => make({ apiKey: `${quote}sk-0123456789${quote}` })
      expect(start).toThrow(`${call}: \`apiKey\` begins and ends with a quotation mark`)
      expect(start).not.toThrow('sk-0123456789')
    }
  })

  test.each([
    ['https://llm.example/v1/chat/completions', '/chat/completions', 'https://llm.example/v1'],
    ['https://llm.example/v1/responses/', '/responses/', 'https://llm.example/v1'],
    ['https://llm.example/anthropic/v1/messages', '/messages', 'https://llm.example/anthropic/v1'],
    [
      'https://u:p@llm.example/openai/deployments/d/chat/completions?api-version=1',
      '/chat/completions',
      'https://llm.example/openai/deployments/d',
    ],
    ['https://llm.example/v1beta/models/gemini-3:generateContent', '/models/gemini-3:generateContent', 'https://llm.example/v1beta'],
    ['https://llm.example/model/m/converse-stream', '/model/m/converse-stream', 'https://llm.example'],
  ])('refuses the URL of an endpoint as its base URL: %s', (baseURL, end, base) => {
    expect(() => make({ apiKey: 'k', baseURL })).toThrow(
      `${call}: \`baseURL\` ends with "${end}", which each call adds itself; it takes "${base}".`,
    )
  })
})

test('other base URLs are taken as they are', () => {
  for (const baseURL of ['https://x.services.ai.azure.com/models', 'https://llm.example/responses/v1', 'https://llm.example/my-messages'])
    expect(() => compatible({ id: 'x', baseURL, apiKey: 'k' })).not.toThrow()
})
