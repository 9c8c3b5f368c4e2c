import type { Model } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { modelNames } from './model-names.ts'

const model = (id: string, more: Partial<Model> = {}): Model => ({ id, offers: [], ...more })
const finder = (...models: readonly Model[]) => {
  const find = modelNames(models)
  return (name: string) => find(name)?.id
}

test('case, folders, separators, regions and authors of a name do not matter', () => {
  const find = finder(model('claude-4.5-sonnet'), model('gpt-4o'))
  for (const name of [
    'Claude-4.5-Sonnet',
    'claude_4_5_sonnet',
    'anthropic/claude-4.5-sonnet',
    'accounts/x/models/claude-4-5-sonnet',
    'us.anthropic.claude-4-5-sonnet',
    '~anthropic/claude-4.5-sonnet',
  ])
    expect(find(name)).toBe('claude-4.5-sonnet')
  expect(find('openai.gpt-4o')).toBe('gpt-4o')
})

test('suffixes of hosts and snapshots are ignored if the whole name is unknown', () => {
  const find = finder(model('gpt-4o'), model('gpt-4o-2024-05-13'))
  for (const name of ['gpt-4o-2024-08-06', 'gpt-4o-v1:0', 'gpt-4o@default', 'gpt-4o-maas']) expect(find(name)).toBe(undefined)
  const one = finder(model('gpt-4o'))
  for (const name of [
    'gpt-4o-2024-08-06',
    'gpt-4o-20240806',
    'gpt-4o-v1:0',
    'gpt-4o@default',
    'gpt-4o@20240806',
    'gpt-4o-maas',
    'gpt-4o-05-2024',
    'gpt-4o-instruct',
    'gpt-4o-it',
  ])
    expect(one(name)).toBe('gpt-4o')
  expect(find('GPT_4o_2024_05_13')).toBe('gpt-4o-2024-05-13')
})

test('ids come before names of offers, these before names without suffixes, and an alias counts as a name', () => {
  const named = (id: string) => ({ provider: 'p', model: id, api: 'chat' }) as Model['offers'][number]
  const find = finder(
    model('small', { offers: [named('host/large')] }),
    model('large', { aliases: ['Grand'] }),
    model('dated', { offers: [named('host/grand-2024-01-01')] }),
    model('other', { offers: [named('host/own-2024-01-01'), named('host/own-2024-02-02')] }),
    model('third', { offers: [named('host/own-2024-03-03')] }),
  )
  expect(find('LARGE')).toBe('large')
  expect(find('x/grand')).toBe('large')
  expect(find('x/own-2024-02-02')).toBe('other')
  expect(find('x/own-2024-03-03')).toBe('third')
  expect(find('x/own-2024-04-04')).toBeUndefined()
})

test('a name shared by two models, an unknown name and one that is too long find no model', () => {
  const find = finder(model('a', { aliases: ['same'] }), model('b', { aliases: ['same'] }), model('x'.repeat(200)))
  expect([find('Same'), find('c'), find('x/a'), find('X'.repeat(200)), find('X'.repeat(201))]).toEqual([
    ...[undefined, undefined, 'a', 'x'.repeat(200), undefined],
  ])
})

test('names of regions of an offer count', () => {
  const offer = { provider: 'p', model: 'm', api: 'chat', regions: [{ region: 'eu', model: 'eu.special_1' }] }
  expect(finder(model('a', { offers: [offer as unknown as Model['offers'][number]] }))('Special-1')).toBe('a')
})
