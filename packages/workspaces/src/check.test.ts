import { expect, test } from 'vitest'
import { absent } from './find-workspace.ts'

test('a missing resource is named by at most a hundred characters of its id', () => {
  expect(absent('budget', 'budget_1')).toMatchObject({
    code: 'resource_not_found',
    message: 'There is no budget "budget_1" in this workspace.',
  })
  expect(absent('key', 'x'.repeat(101)).message).toBe(`There is no key "${'x'.repeat(100)}" in this workspace.`)
})
