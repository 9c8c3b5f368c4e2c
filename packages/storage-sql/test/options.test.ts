import { expect, test } from 'vitest'
import { d1Storage } from '../src/d1.ts'
import { libsqlStorage } from '../src/libsql.ts'
import { postgresStorage } from '../src/postgres.ts'
import { sqliteStorage } from '../src/sqlite.ts'
import { workersStorage } from '../src/workers.ts'

// Options as JavaScript passes them, where no compiler checks them.

const method = (): never => {
  throw new Error('a method was called')
}
const objects = { idFromName: method, get: method }
const database = { prepare: method, batch: method }
const wrong = (value: unknown): never => value as never

test.each([
  [{ object: objects }, 'there is no option `object`. Did you mean `objects`?'],
  [{ objects, bucket: 1 }, 'there is no option `bucket`. There are `objects`, `name`, `rows`, `timeoutMs`.'],
  [undefined, 'the argument is undefined; it takes an object of options.'],
  [{}, '`objects` is undefined; it takes the binding to the Durable Object `StorageObject`. Bind the Durable Object in'],
  [{ objects: undefined }, '`durable_objects` of wrangler.jsonc and pass it: `objects: env.STORAGE`.'],
  [{ objects: database }, '`objects` is a D1 database; it takes'],
  [{ objects: 'STORAGE' }, '`objects` is a string; it takes'],
  [{ objects, rows: database }, '`rows` is a D1 database; it takes a storage. Pass a D1 database as `rows: d1Storage(env.DB)`.'],
  [{ objects, rows: objects }, '`rows` is a namespace of Durable Objects; it takes a storage.'],
  [{ objects, name: 7 }, '`name` is 7; it takes a string.'],
  [{ objects, timeoutMs: '5' }, '`timeoutMs` is a string; it takes milliseconds above 0.'],
])('workersStorage(%o) throws a TypeError that names the option and the fix', (options, message) => {
  const make = () => workersStorage(wrong(options))
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
  expect(make).toThrow(/^workersStorage: /)
})

test('valid options of workersStorage are accepted', () => {
  expect(() => workersStorage({ objects, rows: d1Storage(wrong(database)), name: 'a', timeoutMs: 5 })).not.toThrow()
  expect(() => workersStorage(wrong({ objects, rows: undefined }))).not.toThrow()
})

test.each([
  [undefined, {}, 'the database is undefined; it takes the binding to a D1 database. Bind the database in `d1_databases`'],
  [objects, {}, 'the database is a namespace of Durable Objects'],
  ['DB', {}, 'the database is a string'],
  [database, { timeout: 5 }, 'there is no option `timeout`. Did you mean `timeoutMs`?'],
  [database, { timeoutMs: 0 }, '`timeoutMs` is 0; it takes milliseconds above 0.'],
])('d1Storage(%o, %o) throws a TypeError with advice', (db, options, message) => {
  const make = () => d1Storage(wrong(db), wrong(options))
  expect(make).toThrow(TypeError)
  expect(make).toThrow(`d1Storage: ${message}`)
})

test.each([
  ['sqliteStorage', () => sqliteStorage(':memory:', wrong({ durable: 'full' })), 'there is no option `durable`'],
  [
    'sqliteStorage',
    () => sqliteStorage(':memory:', wrong({ durability: 'ful' })),
    '`durability` is a string; it takes `process` or `full`.',
  ],
  [
    'postgresStorage',
    () => postgresStorage('postgres://x', wrong({ connection: 2 })),
    'no option `connection`. Did you mean `connections`?',
  ],
  ['postgresStorage', () => postgresStorage('postgres://x', wrong({ prepare: 'no' })), '`prepare` is a string; it takes true or false.'],
  ['libsqlStorage', () => libsqlStorage({ url: 'file::memory:' }, wrong({ timeout: 2 })), 'there is no option `timeout`.'],
] as const)('%s refuses options that it does not have, and values of another kind', (call, make, message) => {
  expect(make).toThrow(TypeError)
  expect(make).toThrow(new RegExp(`^${call}: `))
  expect(make).toThrow(message)
})
