import type { BuiltInDialect } from '@signalbox/dialects'
import { describe, expect, test } from 'vitest'
import { addressing, authorizing } from '../test/calling.ts'
import { compatible } from './compatible.ts'
import { defineProvider } from './define-provider.ts'

const baseURL = 'http://127.0.0.1:1/v1'
const model = 'a:b'
const bearer = { authorization: 'Bearer k' }
const dialects: readonly {
  readonly dialect: BuiltInDialect
  readonly whole: string
  readonly stream?: string
  readonly headers: object
}[] = [
  { dialect: 'responses', whole: '/responses', headers: bearer },
  { dialect: 'chat', whole: '/chat/completions', headers: bearer },
  { dialect: 'messages', whole: '/messages', headers: { 'x-api-key': 'k' } },
  {
    dialect: 'gemini',
    whole: '/models/a:b:generateContent',
    stream: '/models/a:b:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': 'k' },
  },
  { dialect: 'bedrock', whole: '/model/a%3Ab/converse', stream: '/model/a%3Ab/converse-stream', headers: bearer },
]
const names = dialects.map(({ dialect }) => dialect)

describe.each(dialects)('a self-hosted server with the dialect $dialect', ({ dialect, whole, stream = whole, headers }) => {
  const provider = compatible({ id: 'mine', baseURL, apiKey: 'k', apis: [dialect] })

  test('is called in that dialect', () => {
    expect(provider.dialects.map(({ name }) => name)).toEqual([dialect])
  })

  test('is called at the usual path of that dialect', () => {
    expect(provider.endpoint(addressing(provider, dialect, { model }))).toBe(baseURL + whole)
    expect(provider.endpoint(addressing(provider, dialect, { model, stream: true }))).toBe(baseURL + stream)
  })

  test('receives its key in the header of that dialect', async () => {
    const sent = {}
    await provider.authorize(sent, addressing(provider, dialect).credential, authorizing(dialect))
    expect(sent).toEqual(headers)
  })

  test('receives no key if it has none', async () => {
    const open = compatible({ id: 'mine', baseURL, apis: [dialect] })
    const sent = {}
    await open.authorize(sent, addressing(open, dialect).credential, authorizing(dialect))
    expect(sent).toEqual({})
  })
})

test('a self-hosted server may have several dialects, and has Chat Completions by default', () => {
  const all = compatible({ id: 'mine', baseURL, apis: names })
  expect(all.dialects.map(({ name }) => name)).toEqual(names)
  expect(compatible({ id: 'mine', baseURL }).dialects.map(({ name }) => name)).toEqual(['chat'])
})

test('an invalid base URL is refused with an error that names it', () => {
  expect(() => compatible({ id: 'mine', baseURL: '' })).toThrow('compatible: `baseURL` is missing')
  for (const wrong of ['localhost:1', 'ftp://a']) {
    expect(() => compatible({ id: 'mine', baseURL: wrong })).toThrow(`The base URL of the provider "mine" is "${wrong}"`)
  }
})

test('a base URL may depend on the account', () => {
  const row = { id: 'acme', baseURL: 'https://{place}.acme.example/v1', paths: { chat: '/chat' }, dialects: [], apiKey: 'k' }
  const provider = defineProvider({ ...row, extra: { place: 'eu' } })
  expect(provider.endpoint(addressing(provider, 'chat'))).toBe('https://eu.acme.example/v1/chat')
})

test('an unknown dialect is refused with an error that names it', () => {
  const speaks = ['chta'] as unknown as readonly BuiltInDialect[]
  expect(() => compatible({ id: 'local', baseURL, apis: speaks })).toThrow(
    'The provider "local" has "chta" among its `apis`, which is not known. Known are ',
  )
})
