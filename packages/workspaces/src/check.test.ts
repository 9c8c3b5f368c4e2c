import { expect, test } from 'vitest'
import { notFoundError } from './find-workspace.ts'

test('a missing resource is named by at most a hundred characters of its id', () => {
  expect(notFoundError('budget', 'budget_1')).toMatchObject({
    code: 'resource_not_found',
    message: 'There is no budget "budget_1" in this workspace.',
  })
  expect(notFoundError('key', 'x'.repeat(101)).message).toBe(`There is no key "${'x'.repeat(100)}" in this workspace.`)
})
