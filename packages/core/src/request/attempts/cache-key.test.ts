import type { InferenceRequest, Item, Price, Prompt } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Candidate, makeCandidate, type Plan } from '../../routing/plan.ts'
import { cacheKeyOf, sessionOf } from './cache-key.ts'

const candidate = (model: string, price: Price): Candidate =>
  makeCandidate({
    model: { id: model, offers: [] },
    offer: { provider: 'p', model: 'theirs', api: 'chat', price },
    provider: { id: 'p', dialects: [], endpoint: () => '', authorize: () => {} },
    credential: { id: 'c', owner: 'platform', secret: '' },
  })
const cheaper: Price = { input: 10, output: 10, cached: 1 }
const same: Price = { input: 10, output: 10, cached: 10 }

const planOf = (...[first, ...rest]: readonly [Candidate, ...Candidate[]]): Plan => ({
  candidates: [first, ...rest],
  excluded: [],
  strategy: 'balanced',
  ruling: 'balanced',
})
const two = planOf(candidate('m', cheaper), candidate('m', same))

const message = (role: 'user' | 'system' | 'assistant', text: string): Item =>
  ({ type: 'message', role, content: [{ type: 'text', text }] }) as Item
const request = (prompt: Partial<Prompt>, models: readonly [string, ...string[]] = ['m']): InferenceRequest => ({
  prompt: { input: [message('user', 'Hi')], ...prompt },
  routing: { models, allow_fallbacks: true },
  delivery: 'stream',
})
const keyOf = (prompt: Partial<Prompt>, more: Partial<Parameters<typeof cacheKeyOf>[0]> = {}) =>
  cacheKeyOf({ request: request(prompt), plan: two, inputTokens: 100, workspaceId: 'w', ...more })

describe('the cache key of a conversation', () => {
  test('follows from the prompt_cache_key, the workspace and the model', () => {
    const key = keyOf({ prompt_cache_key: 'talk' })
    expect(keyOf({ prompt_cache_key: 'talk', input: [message('user', 'Something else')] })).toBe(key)
    expect(keyOf({ prompt_cache_key: 'other' })).not.toBe(key)
    expect(keyOf({ prompt_cache_key: 'talk' }, { workspaceId: 'v' })).not.toBe(key)
    expect(keyOf({ prompt_cache_key: 'talk' }, { plan: planOf(candidate('n', cheaper), candidate('n', same)) })).not.toBe(key)
  })

  test('is the same for all models of a pool, so that a conversation stays with the model that answered', () => {
    const pool = request({ prompt_cache_key: 'talk' }, ['a', 'b'])
    const keys = [planOf(candidate('a', cheaper), candidate('b', same)), planOf(candidate('b', same), candidate('a', cheaper))].map(plan =>
      keyOf({}, { request: pool, plan }),
    )
    expect(keys[0]).toBe(keys[1])
  })

  test('follows from the start of the conversation without a prompt_cache_key, and later turns do not change it', () => {
    const opening = { instructions: 'Be brief.', tools: [{ type: 'function' as const, name: 'add' }] }
    const begun = [message('system', 'You are a poet.'), message('user', 'A poem!')]
    const key = keyOf({ ...opening, input: begun })
    expect(keyOf({ ...opening, input: [...begun, message('assistant', 'Roses…'), message('user', 'More!')] })).toBe(key)
    const others: readonly Partial<Prompt>[] = [
      { ...opening, input: [message('system', 'You are a poet.'), message('user', 'A song!')] },
      { ...opening, input: [message('system', 'You are a judge.'), message('user', 'A poem!')] },
      { ...opening, instructions: 'Be long.', input: begun },
      { ...opening, tools: [{ type: 'function', name: 'subtract' }], input: begun },
      { instructions: opening.instructions, input: begun },
    ]
    expect(new Set([key, ...others.map(other => keyOf(other))]).size).toBe(others.length + 1)
  })

  test('distinguishes images and files at the start by their URL, and text wherever it stands', () => {
    const beginning = (...content: readonly object[]) => keyOf({ input: [{ type: 'message', role: 'user', content } as Item] })
    const text = (said: string) => ({ type: 'text', text: said })
    const keys = [
      beginning(text('See')),
      beginning(text('See'), { type: 'image', url: 'https://a.example/1' }),
      beginning(text('See'), { type: 'image', url: 'https://a.example/2' }),
      beginning(text('See'), { type: 'file', url: 'https://a.example/3' }),
      beginning({ type: 'image', url: 'https://a.example/1' }, text('See')),
      beginning(text('See'), text('See')),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('follows from the first eight items if none of them is a user message', () => {
    const systems = (count: number) => Array.from({ length: count }, (_, at) => message('system', `${at}`))
    expect(keyOf({ input: [...systems(8), message('user', 'A')] })).toBe(keyOf({ input: [...systems(8), message('user', 'B')] }))
    expect(keyOf({ input: [...systems(7), message('user', 'A')] })).not.toBe(keyOf({ input: [...systems(7), message('user', 'B')] }))
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' } as Item
    expect(keyOf({ input: [call, message('user', 'A')] })).toBe(keyOf({ input: [message('user', 'A')] }))
  })

  test('of a named conversation never equals one that follows from the start of another', () => {
    const begun = keyOf({ input: [message('user', 'talk')] })
    expect(keyOf({ prompt_cache_key: 'talk' })).not.toBe(begun)
  })

  test('follows from the session without a prompt_cache_key: from the request, its headers, or the user id', () => {
    const of = (more: Partial<InferenceRequest>, headers: Readonly<Record<string, string>> = {}) =>
      keyOf({}, { request: { ...request({}), ...more }, header: name => headers[name] })
    const key = of({ session: 's' })
    expect(key).not.toBe(of({}))
    expect(key).not.toBe(of({ session: 't' }))
    for (const name of ['x-session-id', 'x-session-affinity', 'session_id', 'session-id']) expect(of({}, { [name]: 's' })).toBe(key)
    expect(of({ session: 's' }, { 'x-session-id': 't' })).toBe(key)
    expect(keyOf({ safety_identifier: '{"session_id":"s"}' })).toBe(key)
    expect(keyOf({ safety_identifier: 'user_a_account__session_s' })).toBe(key)
    expect(keyOf({ prompt_cache_key: 's', safety_identifier: '{"session_id":"t"}' })).toBe(key)
    for (const user of ['u', '{"session_id":1}', '{', '[]', `{"session_id":"${'s'.repeat(3_000)}"}`])
      expect(keyOf({ safety_identifier: user })).toBe(of({}))
  })

  test('is undefined if there is only one candidate, or no candidate caches so short a prompt', () => {
    expect(keyOf({}, { plan: planOf(candidate('m', cheaper)) })).toBeUndefined()
    const dear = planOf(candidate('m', same), candidate('m', { input: 10, output: 10 }))
    expect(keyOf({}, { plan: dear, inputTokens: 1_023 })).toBeUndefined()
    expect(keyOf({}, { plan: dear, inputTokens: 1_024 })).toBeDefined()
  })

  test('differs if the ends or the length of a long start differ, and is short whatever its source', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1_000, max: 20_000 }),
        fc.string({ minLength: 1, maxLength: 40 }),
        (head, size, tail) => {
          const long = 'x'.repeat(size)
          const texts = [head + long + tail, `${head}!${long}${tail}`, `${head}${long}${tail}!`, `${head}${long}x${tail}`]
          const distinct = new Set(texts)
          const keys = texts.map(text => keyOf({ input: [message('user', text)] }))
          expect(new Set(keys).size).toBe(distinct.size)
          expect(keyOf({ prompt_cache_key: long })?.length).toBeLessThan(40)
          expect(keyOf({}, { request: { ...request({}, [long, tail]), session: long } })?.length).toBeLessThan(40)
        },
      ),
    )
  })
})

const sessionRequest = (prompt: Partial<Prompt>, session?: string) => ({ prompt, ...(session && { session }) }) as InferenceRequest
const noHeaders = (): undefined => undefined
const header = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name]

test('the session of the body comes before that of a header, and a header before that of the user id', () => {
  const user = 'user_1_session_of-user'
  expect(sessionOf(sessionRequest({ user }, 'of-body'), header({ 'x-session-id': 'of-header' }))).toBe('of-body')
  expect(sessionOf(sessionRequest({ user }), header({ 'x-session-id': 'of-header' }))).toBe('of-header')
  expect(sessionOf(sessionRequest({ user }), noHeaders)).toBe('of-user')
  expect(sessionOf(sessionRequest({ user }), undefined)).toBe('of-user')
})

test.each([
  'x-session-id',
  'x-session-affinity',
  'session_id',
  'session-id',
  'x-claude-code-session-id',
  'x-opencode-session',
  'x-litellm-session-id',
])('the header %s names the session, unless it is empty', name => {
  expect(sessionOf(sessionRequest({}), header({ [name]: 's' }))).toBe('s')
  expect(sessionOf(sessionRequest({}), header({ [name]: '' }))).toBeUndefined()
})

test('`session_id` of the metadata names the session, after a header and before the user id', () => {
  const prompt = { metadata: { session_id: 'of-metadata' }, user: 'user_1_session_of-user' }
  expect(sessionOf(sessionRequest(prompt), noHeaders)).toBe('of-metadata')
  expect(sessionOf(sessionRequest(prompt), header({ 'x-session-id': 'of-header' }))).toBe('of-header')
  expect(sessionOf(sessionRequest({ ...prompt, metadata: { session_id: '' } }), noHeaders)).toBe('of-user')
})

test.each<readonly [string, string, string | undefined]>([
  ['ends in a session', 'user_ab_account_cd_session_12-34', '12-34'],
  ['has a session, but not at its end', 'user_session_12 34', undefined],
  ['is JSON with a session', '{"device_id":"d","session_id":"s"}', 's'],
  ['is JSON with an empty session', '{"session_id":""}', undefined],
  ['is JSON with a session that is no text', '{"session_id":5}', undefined],
  ['is JSON, and no object', '{"session_id":"s"', undefined],
  ['has no session', 'ann', undefined],
])('a user id that %s', (_, user, session) => {
  expect(sessionOf(sessionRequest({ user }), noHeaders)).toBe(session)
})

test('the safety identifier comes before the user id, and a user id over 2,048 characters is not searched', () => {
  expect(sessionOf(sessionRequest({ safety_identifier: 'x', user: 'u_session_1' }), noHeaders)).toBeUndefined()
  const withLength = (length: number) => `${'u'.repeat(length - '_session_1'.length)}_session_1`
  expect(sessionOf(sessionRequest({ user: withLength(2_048) }), noHeaders)).toBe('1')
  expect(sessionOf(sessionRequest({ user: withLength(2_049) }), noHeaders)).toBeUndefined()
})
