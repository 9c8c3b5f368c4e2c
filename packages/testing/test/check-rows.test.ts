import { expect, test } from 'vitest'
import { checkRows } from './check-rows.ts'

const rows = [
  ['one', 1],
  ['two', 2],
  ['three', 3],
] as const

test('a failure names each row that failed and why, and has the first as its cause', async () => {
  const checked: string[] = []
  const outcome = checkRows(rows, async (row, name) => {
    checked.push(name)
    expect(row, 'even').toBe(2)
  })
  const error = await outcome.catch((failure: unknown) => failure)
  expect(checked).toEqual(['one', 'two', 'three'])
  expect(error).toMatchObject({
    message: expect.stringMatching(/^2 of 3 rows failed\.\none: even.*\nthree: even/),
    cause: { expected: 2 },
  })
})

test('an empty table fails', async () => {
  await expect(checkRows([], () => {})).rejects.toThrow('no rows')
})
