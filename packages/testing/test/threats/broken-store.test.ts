import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { ask } from '../matrix/asking.ts'
import { callOf, createFixture, type Fixture, rows } from '../matrix/fixture.ts'
import { bodyFor } from '../matrix/samples.ts'

/** A driver error with host, user and statement. */
const words = 'SQLITE_IOERR: disk I/O error in /var/lib/canary.db (postgres://canary:canary@10.0.0.7) at SELECT canary FROM records'

/** A store on this machine throws, and its disk stays broken; one across a network rejects, and may have lost a single packet. */
const manners = [
  ['any one step fails, by a promise that rejects', { byPromise: true, lasts: false }],
  ['any one step fails and all after it, by throwing', { byPromise: false, lasts: true }],
] as const

/** The same store, in which a verb fails: the one of that number from when it was set, and those after it where that lasts. */
function fragile(
  storage: Storage,
  { byPromise, lasts }: (typeof manners)[number][1],
): { readonly storage: Storage; readonly failing: { at: number; hit: boolean } } {
  const failing = { at: Number.POSITIVE_INFINITY, hit: false }
  const watch = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const verb: unknown = Reflect.get(target, name)
        if (typeof verb !== 'function') return verb
        const ask = (...given: readonly unknown[]): unknown => {
          failing.at -= 1
          if (failing.at > 0 || (failing.at < 0 && !lasts)) return verb.apply(target, given)
          failing.hit = true
          throw Object.assign(new Error(words), { code: 'ERR_CANARY' })
        }
        return byPromise ? async (...given: readonly unknown[]) => ask(...given) : ask
      },
    })
  const { records, audit, counters, ledger, usage, settle } = storage
  const stores = { records: watch(records), audit: watch(audit), counters: watch(counters), ledger: watch(ledger), usage: watch(usage) }
  return { failing, storage: { ...storage, ...stores, ...watch({ settle }) } }
}

const ajv = new Ajv2020({ strict: false, validateFormats: false })
let document: object

beforeAll(async () => {
  document = (await ask((await createFixture()).mine, 'GET /v1/openapi.json')).json
  ajv.addSchema({ $id: 'document', ...document })
})

/** The usual run tries every tenth step of each row, beginning with another one in the next row. */
const stride = inject('isLongRun') ? 1 : 10
const tried = rows.map(([name, row], at) => [name, row, 1 + (at % stride)] as const)

describe.each(tried)('%s', (_, row, first) => {
  test.each(manners)(
    'with a store where %s returns 503 with Retry-After, or succeeds without it, and never reveals internals',
    async (_, manner) => {
      const isError = ajv.getSchema('document#/components/schemas/Error')
      for (let at = first; at < 40; at += stride) {
        const { storage, failing } = fragile(memoryStorage(), manner)
        const here: Fixture = await createFixture(storage)
        const call = await callOf(row, here.mine)
        Object.assign(failing, { at, hit: false })
        const answer = await ask(here.mine, call, { body: bodyFor(row), headers: { 'idempotency-key': 'one' } }).catch(() => undefined)
        failing.at = Number.POSITIVE_INFINITY
        if (answer === undefined) {
          // A table that has begun breaks off, so that it cannot pass for a complete one.
          expect(row.media).toBe('text/csv')
          continue
        }
        const { status, headers, json, text } = answer
        expect(text).not.toMatch(/canary|SQLITE|SELECT|10\.0\.0\.7|\.ts:/i)
        if (status < 400) {
          // Not reached: all of its steps have been tried.
          if (!failing.hit) return
          continue
        }
        expect([at, status, headers['retry-after'], json.error?.code]).toEqual([at, 503, '1', 'service_unavailable'])
        expect(isError?.(json)).toBe(true)
      }
    },
  )
})
