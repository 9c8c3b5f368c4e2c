import { expect, test } from 'vitest'
import { errorChain } from './error-chain.ts'

test('an error is followed by its causes, except for those that it quotes', () => {
  const cause = new Error('no such table')
  const quoting = new Error('d1Storage: no such table', { cause })
  expect(errorChain(new Error('the storage cannot be used', { cause: quoting }))).toBe(
    'Error: the storage cannot be used, caused by Error: d1Storage: no such table',
  )
  expect(errorChain('a text')).toBe('a text')
})

test('errors that cause each other are cut after three causes', () => {
  const error = new Error('0')
  let last = error
  for (let at = 1; at < 9; at++) last = last.cause = new Error(String(at))
  expect(errorChain(error)).toBe('Error: 0, caused by Error: 1, caused by Error: 2, caused by Error: 3')
})

test('a cause that is not an error is shown as text', () => {
  expect(errorChain(new Error('failed', { cause: 'no table' }))).toBe('Error: failed, caused by no table')
  expect(errorChain(new Error('failed: no table', { cause: 'no table' }))).toBe('Error: failed: no table')
})
