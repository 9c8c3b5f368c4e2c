import { expect, test } from 'vitest'
import { checkOptionTable, checkUnquoted, describeValue, inSource, type OptionTable } from './option-table.ts'

const table: OptionTable = {
  ...{ name: 'text', key: 'text or function', count: 'number', on: 'flag', make: 'function', items: 'list', extra: 'object' },
  ...{ retry: 'object or false', whatever: 'any', inner: { depth: 'number' } },
}
const check = (options: unknown, option?: string) => () =>
  checkOptionTable({ call: 'open', ...(option !== undefined && { option }) }, options, table)

const right: Readonly<Record<string, readonly unknown[]>> = {
  name: ['', 'a'],
  key: ['a', () => 'a'],
  count: [0, -1.5],
  on: [true, false],
  make: [() => {}],
  items: [[], [1]],
  extra: [{}],
  retry: [{}, false],
  whatever: [null, 0, 'a'],
  inner: [{}, { depth: 1 }],
}
const values = [null, 0, '', true, false, [], {}, () => {}]

test.each(Object.keys(right))('the option %s accepts its kind of value and no other', name => {
  for (const value of [undefined, ...(right[name] ?? [])]) expect(check({ [name]: value })).not.toThrow()
  const isRight = (value: unknown): boolean =>
    name === 'whatever' ||
    (right[name] ?? []).some(
      each =>
        typeof each === typeof value &&
        Array.isArray(each) === Array.isArray(value) &&
        (each === null) === (value === null) &&
        (typeof each !== 'boolean' || name === 'on' || each === value),
    )
  for (const value of values.filter(each => !isRight(each))) expect(check({ [name]: value })).toThrow(new RegExp(`^open: \`${name}\` is `))
})

test('an error message has the given and the expected value and the path, but not the content of a text', () => {
  expect(check({ count: 'secret' })).toThrow('open: `count` is a string; it takes a number.')
  expect(check({ on: () => true })).toThrow('open: `on` is a function; it takes true or false.')
  expect(check({ inner: { depth: 1n } })).toThrow('open: `inner.depth` is 1; it takes a number.')
  expect(check({ inner: { depth: [] } }, 'outer')).toThrow('open: `outer.inner.depth` is a list; it takes a number.')
  expect(check(null)).toThrow('open: the argument is null; it takes an object of options.')
  expect(check([], 'outer')).toThrow('open: `outer` is a list; it takes an object of options.')
  expect(check(undefined)).toThrow('open: the argument is undefined; it takes an object of options.')
})

test('an unknown option is refused with the nearest option, or with all of them', () => {
  expect(check({ nane: 'a' })).toThrow('open: there is no option `nane`. Did you mean `name`?')
  expect(check({ inner: { zzzzzzzz: 1 } })).toThrow('open: there is no option `inner.zzzzzzzz`. There are `depth`.')
  expect(check({ constructor: 1 })).toThrow('there is no option `constructor`')
})

test('a text in quotes, also in a list, is refused by its name and without its value', () => {
  const url = 'redis://user:hunter2@host'
  const check = (options: object) => () => checkUnquoted('open', options)
  for (const quote of ['"', "'", '`']) {
    expect(check({ url: quote + url + quote })).toThrow(/^open: `url` begins and ends with a quotation mark.*docker --env-file/)
    expect(check({ url: [url, quote + url + quote] })).toThrow(/^open: `url\[1\]` begins/)
    expect(check({ url: quote + url + quote })).not.toThrow('hunter2')
  }
  for (const value of ['', '"', '"a', "a'", `"a'`, 'say "a"', 5, undefined, null, {}]) expect(check({ value })).not.toThrow()
})

test('a value in a message is written as in the source', () => {
  expect(['5', 5, undefined, null, 'x'.repeat(90)].map(inSource)).toEqual(['"5"', '5', 'undefined', 'null', `"${'x'.repeat(80)}…"`])
})

test('a value is described by its kind, and shown only if it is short and not a text', () => {
  expect([null, undefined, [], {}, 'a', () => {}, 5, true, 1n].map(describeValue)).toEqual([
    ...['null', 'undefined', 'a list', 'an object', 'a string', 'a function', '5', 'true', '1'],
  ])
})
