import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { usageFields as bedrock } from '../bedrock/wire.ts'
import { usageFields as chat } from '../chat/wire.ts'
import { usageFields as gemini } from '../gemini/wire.ts'
import { usageFields as messages } from '../messages/wire.ts'
import { providerDialects } from '../providers.ts'
import { usageFields as responses } from '../responses/wire.ts'
import type { UsageFields } from './usage-fields.ts'
import { usageFieldsOf } from './usage-fields.ts'

const tables: Readonly<Record<string, UsageFields>> = { bedrock, chat, gemini, messages, responses }

test('the answers that tests make have only such fields', () => {
  const folder = join(import.meta.dirname, '../../../testing/src/answers')
  const found = readdirSync(folder).flatMap(file => {
    const dialect = file.replace('.ts', '')
    const names = readFileSync(join(folder, file), 'utf8').match(/\b(?!max_)\w+(?:_tokens|Tokens|TokenCount)\b(?=:)/g) ?? []
    const known = tables[dialect] && [...usageFieldsOf(tables[dialect])].join('.').split('.')
    return known ? names.filter(name => !known.includes(name)) : []
  })
  expect(found).toEqual([])
})

test('a count under an unknown name is part of the usage, for the operator', () => {
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 6,
    total_tokens: 11,
    warp_tokens: 7,
    prompt_tokens_details: { odd_tokens: 8, no_tokens: 0 },
  }
  const answer = { id: 'c', object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop', message: { content: 'Hi' } }] }
  expect(providerDialects.chat?.decodeResponse({ ...answer, usage }).usage?.unread).toEqual([
    'warp_tokens',
    'prompt_tokens_details.odd_tokens',
  ])
  const hostile = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`field_${at}`, 1]))
  expect(providerDialects.chat?.decodeResponse({ ...answer, usage: { ...hostile, prompt_tokens: 5 } }).usage?.unread).toHaveLength(5)
})

test('tokens of a total that no part has are named too', () => {
  const answer = { id: 'c', object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop', message: { content: 'Hi' } }] }
  const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 20 }
  expect(providerDialects.chat?.decodeResponse({ ...answer, usage }).usage?.unread).toEqual(['total_tokens'])
})
