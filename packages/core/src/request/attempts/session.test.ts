import type { InferenceRequest, Prompt } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { sessionOf } from './session.ts'

const request = (prompt: Partial<Prompt>, session?: string) => ({ prompt, ...(session && { session }) }) as InferenceRequest
const noHeaders = (): undefined => undefined
const header = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name]

test('the session of the body comes before that of a header, and a header before that of the user id', () => {
  const user = 'user_1_session_of-user'
  expect(sessionOf(request({ user }, 'of-body'), header({ 'x-session-id': 'of-header' }))).toBe('of-body')
  expect(sessionOf(request({ user }), header({ 'x-session-id': 'of-header' }))).toBe('of-header')
  expect(sessionOf(request({ user }), noHeaders)).toBe('of-user')
  expect(sessionOf(request({ user }), undefined)).toBe('of-user')
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
  expect(sessionOf(request({}), header({ [name]: 's' }))).toBe('s')
  expect(sessionOf(request({}), header({ [name]: '' }))).toBeUndefined()
})

test('`session_id` of the metadata names the session, after a header and before the user id', () => {
  const prompt = { metadata: { session_id: 'of-metadata' }, user: 'user_1_session_of-user' }
  expect(sessionOf(request(prompt), noHeaders)).toBe('of-metadata')
  expect(sessionOf(request(prompt), header({ 'x-session-id': 'of-header' }))).toBe('of-header')
  expect(sessionOf(request({ ...prompt, metadata: { session_id: '' } }), noHeaders)).toBe('of-user')
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
  expect(sessionOf(request({ user }), noHeaders)).toBe(session)
})

test('the safety identifier comes before the user id, and a user id over 2,048 characters is not searched', () => {
  expect(sessionOf(request({ safety_identifier: 'x', user: 'u_session_1' }), noHeaders)).toBeUndefined()
  const withLength = (length: number) => `${'u'.repeat(length - '_session_1'.length)}_session_1`
  expect(sessionOf(request({ user: withLength(2_048) }), noHeaders)).toBe('1')
  expect(sessionOf(request({ user: withLength(2_049) }), noHeaders)).toBeUndefined()
})
