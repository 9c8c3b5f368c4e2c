import { readFileSync } from 'node:fs'
import { catalog } from '@signalbox/catalog'
import { createGateway } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { fakeClock } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'

// Model ids as other gateways and the vendors themselves list them (facts of npm:@earendil-works/pi-ai@1.5.2, 2026-11-10), and the
// model of the catalog that each one means. null: the catalog does not have it.

type Ids = Readonly<Record<string, Readonly<Record<string, string | null>>>>
const lists = JSON.parse(readFileSync(new URL('model-ids.json', import.meta.url), 'utf8')) as Ids

const logger = { info: () => {}, warn: () => {}, error: () => {} }
const clock = fakeClock({ now: Date.UTC(2026, 10, 22) })
const { models } = createGateway({ providers: [], models: catalog().models, storage: memoryStorage(), clock, logger })

describe.each(Object.entries(lists))('ids of %s', (_host, ids) => {
  test('resolve to their own model or none, never to another', () => {
    const wrong = Object.entries(ids).filter(([id, expected]) => {
      const found = models.resolve(id)
      return found !== undefined && found.id !== expected
    })
    expect(wrong).toEqual([])
  })

  test('mostly resolve', () => {
    const known = Object.entries(ids).filter(([, expected]) => expected !== null)
    const found = known.filter(([id]) => models.resolve(id) !== undefined)
    expect(found.length / known.length).toBeGreaterThanOrEqual(0.9)
  })
})

test('docs/catalog.md has the share of each list that resolves', () => {
  const page = readFileSync(new URL('../../../docs/catalog.md', import.meta.url), 'utf8')
  const rows = Object.entries(lists).map(([host, ids]) => {
    const known = Object.entries(ids).filter(([, expected]) => expected !== null)
    const found = known.filter(([id]) => models.resolve(id) !== undefined).length
    return `| \`${host}\` | ${Object.keys(ids).length} | ${known.length} | ${found} | ${((100 * found) / known.length).toFixed(0)} % |`
  })
  expect(page).toContain(rows.join('\n'))
})

test.each([
  ['GPT-6.1-Sol', 'gpt-6.1-sol'],
  ['gpt-5-2025-08-07', 'gpt-5'],
  ['gpt-4.1-2025-04-14', 'gpt-4.1'],
  ['o3-2025-04-16', 'o3'],
  ['claude-haiku-4-5@20251001', 'claude-haiku-4-5'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  ['llama-3.3-70b-versatile', 'llama-3.3-70b-instruct'],
  ['gpt-4.1-nano', 'gpt-4.1-nano'],
])('%s resolves to %s', (name, id) => {
  expect(models.resolve(name)?.id).toBe(id)
})

test.each([
  '',
  ' ',
  'gpt',
  'sol',
  '__proto__',
  'constructor',
  '/',
  '~',
  'openai/',
  `gpt-4o${'-2024-08-06'.repeat(30)}`,
  'x'.repeat(100_000),
])('a meaningless name resolves to nothing', name => {
  expect(models.resolve(name)).toBeUndefined()
})

test('an ambiguous spelling resolves to nothing, and no model name resolves to another model', () => {
  const offer = { provider: 'p', model: 'vendor/the-model', api: 'chat' }
  const both = [
    { id: 'one', offers: [offer] },
    { id: 'two', offers: [offer] },
    { id: 'the.third', aliases: ['one-2025-01-01'], offers: [] },
  ]
  const gateway = createGateway({ providers: [], models: both, storage: memoryStorage(), clock, logger })
  expect(gateway.models.resolve('the-model')).toBeUndefined()
  expect(gateway.models.resolve('one-2025-01-01')?.id).toBe('the.third')
  expect(gateway.models.resolve('THE_THIRD')?.id).toBe('the.third')
})
