import { GatewayError } from '@signalbox/dialects/errors'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { budgetFields } from './budget.ts'
import { checkInput, type NameStyle } from './check-input.ts'
import type { Fields } from './fields.ts'
import { routingDefaultsFields } from './settings.ts'

type Input = Readonly<Record<string, unknown>>

const budget = { name: 'monthly', period: 'month', limit: 50_000_000 }
const create = (input: object) => () => checkInput({ fields: budgetFields, mode: 'create' }, input as Input)
const change = (input: object) => () => checkInput({ fields: routingDefaultsFields, mode: 'update' }, input as Input)

test('an input that matches its fields is accepted', () => {
  expect(create(budget)).not.toThrow()
})

test.each([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, '1'])(
  'a price of %s is refused with the name of its field',
  input => {
    expect(change({ maxPrice: { input } })).toThrow(/`maxPrice\.input` is .*; it takes a (whole )?number/)
  },
)

test.each(['__proto__', 'constructor', 'toString'])('a field called %s is unknown', name => {
  expect(create({ ...budget, ...JSON.parse(`{ "${name}": 1 }`) })).toThrow(`There is no field \`${name}\` here.`)
})

test('the first unknown field is named, but a field that cannot be changed comes first', () => {
  expect(create({ ...budget, colour: 1, size: 2 })).toThrow('There is no field `colour` here.')
  expect(() => checkInput({ fields: budgetFields, mode: 'update' }, { colour: 1, period: 'day' })).toThrow('`period` cannot be changed')
})

const optional = { create: 'optional', update: 'nullable' } as const
const fields: Fields = {
  id: { kind: 'string', create: 'optional' },
  name: { kind: 'string', min: 1, max: 5, create: 'required', update: 'optional' },
  mail: { ...optional, kind: 'string', min: 3 },
  maxCount: { ...optional, kind: 'integer', min: 1, max: 9 },
  share: { ...optional, kind: 'number', above: 0, max: 1 },
  shape: { ...optional, kind: 'enum', values: ['round', 'square'] },
  tags: { ...optional, kind: 'list', of: { kind: 'string' }, max: 2, or: '*' },
  rules: { ...optional, kind: 'list', of: { kind: 'object', fields: { topLimit: { kind: 'number', create: 'required' } } } },
  limit: { ...optional, kind: 'usd', min: 1, max: 1e9 },
  until: { ...optional, kind: 'time' },
  playground: { ...optional, kind: 'boolean', inProcess: true },
}

function refusal(input: object, { nameStyle, mode = 'create' }: { readonly nameStyle: NameStyle; readonly mode?: 'create' | 'update' }) {
  try {
    checkInput({ fields, mode }, input as Input, nameStyle)
  } catch (error) {
    if (error instanceof GatewayError) return { ...error.facts, code: error.code, message: error.message }
    throw error
  }
  return undefined
}
const json = { nameStyle: 'json' } as const
const name = 'a'

describe('an invalid body', () => {
  test.each([
    [{}, 'missing_required_parameter', 'name', '`name` is missing.'],
    [{ name: 1 }, 'invalid_parameter_value', 'name', '`name` is 1; it takes a string.'],
    [{ name: null }, 'invalid_parameter_value', 'name', '`name` is null; it takes a string.'],
    [{ name: '' }, 'invalid_parameter_value', 'name', '`name` is an empty text; it takes at least 1 character.'],
    [{ name: 'toolong' }, 'invalid_parameter_value', 'name', '`name` is a string of 7 characters; it takes at most 5 characters.'],
    [{ name: '😀'.repeat(6) }, 'invalid_parameter_value', 'name', '`name` is a string of 6 characters; it takes at most 5 characters.'],
    [{ name, max_count: 1.5 }, 'invalid_parameter_value', 'max_count', '`max_count` is 1.5; it takes a whole number.'],
    [{ name, max_count: [1] }, 'invalid_parameter_value', 'max_count', '`max_count` is a list of 1; it takes a number.'],
    [{ name, max_count: 0 }, 'invalid_parameter_value', 'max_count', '`max_count` is 0; it takes 1 or more.'],
    [{ name, max_count: 10 }, 'invalid_parameter_value', 'max_count', '`max_count` is 10; it takes 9 or less.'],
    [{ name, share: 0 }, 'invalid_parameter_value', 'share', '`share` is 0; it takes more than 0.'],
    [{ name, limit_usd: 0 }, 'invalid_parameter_value', 'limit_usd', '`limit_usd` is 0; it takes 0.000001 or more.'],
    [{ name, limit_usd: 1001 }, 'invalid_parameter_value', 'limit_usd', '`limit_usd` is 1001; it takes 1000 or less.'],
    [
      { name, shape: 'rond' },
      'invalid_parameter_value',
      'shape',
      '`shape` is a string of 4 characters; it takes one of round, square. Did you mean "round"?',
    ],
    [
      { name, until: '2030-02-30T00:00:00Z' },
      'invalid_parameter_value',
      'until',
      '`until` is a string of 20 characters; it takes a time in UTC, as in "2030-01-31T12:00:00Z".',
    ],
    [{ name, tags: '*' }, 'invalid_parameter_value', 'tags', '`tags` is a string of 1 character; it takes a list.'],
    [{ name, tags: ['a', 1] }, 'invalid_parameter_value', 'tags[1]', '`tags[1]` is 1; it takes a string.'],
    [{ name, tags: ['a', 'b', 'c'] }, 'invalid_parameter_value', 'tags', '`tags` is a list of 3; it takes at most 2 entries.'],
    [{ name, rules: [{}] }, 'missing_required_parameter', 'rules[0].top_limit', '`rules[0].top_limit` is missing.'],
    [
      { name, rules: [{ top_limit: 1, top_limits: 1 }] },
      'unknown_field',
      'rules[0].top_limits',
      'There is no field `rules[0].top_limits` here. Did you mean "top_limit"?',
    ],
    [{ name, maxCount: 1 }, 'unknown_field', 'maxCount', 'There is no field `maxCount` here. Did you mean "max_count"?'],
    [
      { name, playground: true },
      'unknown_field',
      'playground',
      'There is no field `playground` here. It takes id, name, mail, max_count, share, shape, tags, rules, limit_usd, until.',
    ],
  ])('%j is refused as %s of %s', (body, ...[code, param, message]) => {
    expect(refusal(body, json)).toMatchObject({ code, param, message })
  })

  test('is refused for a field that cannot be changed first, then for an unknown, a missing and an invalid one', () => {
    expect(refusal({ id: 1, nmae: 'a', max_count: 'x' }, { ...json, mode: 'update' })).toMatchObject({ code: 'field_immutable' })
    expect(refusal({ nmae: 'a', max_count: 'x' }, json)).toMatchObject({ code: 'unknown_field', suggestion: 'Did you mean "name"?' })
    expect(refusal({ max_count: 'x' }, json)).toMatchObject({ code: 'missing_required_parameter' })
  })

  test('is refused with the same message as a call in process, except for the field names', () => {
    for (const faulty of [{ name: 1 }, { name: '' }, { name, share: 2 }, { name, shape: 'x' }, { name, rules: [1] }, {}])
      expect(refusal(faulty, json)).toEqual(refusal(faulty, { nameStyle: 'typescript' }))
    expect(refusal({ name, max_count: 0 }, json)?.message).toBe(
      refusal({ name, maxCount: 0 }, { nameStyle: 'typescript' })?.message.replace('maxCount', 'max_count'),
    )
  })

  test('is not repeated in the message, because it may contain a secret', () => {
    const secret = 'sk-0123456789'
    fc.assert(
      fc.property(
        fc.constantFrom('name', 'max_count', 'share', 'shape', 'tags', 'rules', 'limit_usd', 'until'),
        fc.constantFrom<unknown>(secret, { secret }, [{ secret }], { [secret.slice(0, 2)]: [secret] }),
        (field, value) => {
          expect(JSON.stringify(refusal({ name, [field]: value }, json) ?? {})).not.toContain(secret)
        },
      ),
    )
  })
})

test('the length of a text is counted in characters, not UTF-16 units', () => {
  expect(refusal({ name: '😀'.repeat(5) }, json)).toBeUndefined()
  expect(refusal({ name: '😀'.repeat(6) }, json)).toMatchObject({ param: 'name' })
  expect(refusal({ name, mail: '😀a' }, json)).toMatchObject({ param: 'mail' })
  expect(refusal({ name, mail: '😀ab' }, json)).toBeUndefined()
})

test.each([
  ['a NUL character', 'a\0b'],
  ['a lone surrogate', 'a\ud800b'],
])('%s is refused in any text, because databases refuse or change it', (_, text) => {
  for (const faulty of [{ name: text }, { name, tags: ['x', text] }, { name, mail: text.slice(0, 2) }])
    expect(refusal(faulty, json)).toMatchObject({ code: 'invalid_parameter_value' })
})

test('null removes a field that a change may remove, and no other', () => {
  expect(refusal({ max_count: null, limit_usd: null, until: null }, { ...json, mode: 'update' })).toBeUndefined()
  expect(refusal({ name: null }, { ...json, mode: 'update' })).toMatchObject({ param: 'name' })
  expect(refusal({ name, rules: [null] }, json)).toMatchObject({ param: 'rules[0]' })
})

test.each(['1e400', '-1e400', '9007199254740993', '1e21', '"1"', '"NaN"', '"Infinity"', 'true', '[[null]]'])(
  'no number field accepts %s',
  number => {
    for (const field of ['max_count', 'share', 'limit_usd'])
      expect(refusal(JSON.parse(`{ "name": "a", "${field}": ${number} }`), json)).toMatchObject({
        code: 'invalid_parameter_value',
        param: field,
      })
  },
)

test.each(['2030-01-31T12:00Z', '2030-01-31T12:00:00Z', '2028-02-29T23:59:59.123456789Z'])('%s is a time', until => {
  expect(refusal({ name, until }, json)).toBeUndefined()
})

test.each(['2030-01-31', '2030-01-31T24:00:00Z', '2030-01-31T12:00:00+01:00', '2030-13-01T00:00Z', '2030-01-31 12:00Z', ''])(
  '"%s" is not a valid time',
  until => {
    expect(refusal({ name, until }, json)).toMatchObject({ param: 'until' })
  },
)

test('a huge input is refused at its first fault, without checking every part', () => {
  let reads = 0
  const many = new Proxy(new Array(100_000).fill({}), {
    get: (list, key) => {
      reads += 1
      return Reflect.get(list, key)
    },
  })
  expect(refusal({ name, tags: many }, json)).toMatchObject({ param: 'tags' })
  expect(refusal({ name, rules: many }, json)).toMatchObject({ param: 'rules[0].top_limit' })
  expect(reads).toBeLessThan(20)
  const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`field${at}`, 1]))
  expect(refusal(unknown, json)).toMatchObject({ param: 'field0' })
  expect(refusal({ name: 'x'.repeat(10_000_000) }, json)).toMatchObject({ param: 'name' })
  expect(refusal({ name, ['x'.repeat(1_000_000)]: 1 }, json)?.message.length).toBeLessThan(400)
})

test('any input is either accepted or refused with the name of a field', () => {
  const key = fc.constantFrom(
    'name',
    'max_count',
    'share',
    'shape',
    'until',
    'tags',
    'rules',
    'id',
    'toString',
    '__proto__',
    'x'.repeat(300),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.jsonValue({ maxDepth: 3 }))), entries => {
      const refused = refusal(Object.fromEntries(entries), json)
      if (refused === undefined) return
      expect(refused.param?.length).toBeGreaterThan(0)
      expect(refused.param?.length).toBeLessThan(120)
    }),
  )
})
