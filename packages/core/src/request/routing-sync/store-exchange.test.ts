import type { StateSync } from '@signalbox/router/sync'
import type { RoutingStore } from '@signalbox/storage'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { createStoreExchange } from './store-exchange.ts'

type Method = 'publish' | 'pause' | 'remember' | 'news' | 'readers'

/** A store that runs the given action before it responds, with something of each kind to publish. */
function scene({ rows = 1, before = async (_: Method) => {} } = {}) {
  const clock = fakeClock()
  const log: string[] = []
  const warned: string[] = []
  const through = async (method: Method, what: string) => {
    log.push(what)
    await before(method)
    log.push(`${method} done`)
  }
  const store = {
    publish: (given: readonly object[]) => through('publish', `publish ${given.length}`),
    pause: (given: readonly object[]) => through('pause', `pause ${given.length}`),
    remember: (given: readonly { key: string }[]) => through('remember', `remember ${given.length} ${given[0]?.key.length}`),
    news: async ({ writer, after }: { writer: string; after?: string }) => {
      await through('news', `news ${writer} ${after}`)
      return { statistics: [], pauses: [], cursor: `${after ?? ''}+` }
    },
    readers: async (key: string) => {
      await through('readers', `readers ${key.length}`)
      return []
    },
  } as unknown as RoutingStore
  const list = Array.from({ length: rows }, () => ({ key: 'conversation' }))
  const sync = {
    changedStatistics: () => list,
    newPauses: () => list,
    newCacheNotes: () => list,
    markPublished: () => void log.push('marked'),
    receive: () => void log.push('received'),
    addCacheHolders: () => void log.push('holders'),
  } as unknown as StateSync
  const logger = { info: () => {}, error: () => {}, warn: (_: object, message: string) => void warned.push(message) }
  return { exchange: createStoreExchange({ store, sync, writer: () => 'me', clock, logger }), log, warned, clock }
}

const published = ['publish 1', 'publish done', 'marked', 'pause 1', 'pause done', 'remember 1 64', 'remember done']

test('an exchange publishes everything in turn, then reads what is new since the last one', async () => {
  const { exchange, log } = scene({ before: () => new Promise(resolve => setImmediate(resolve)) })
  await exchange.exchange()
  expect(log).toEqual([...published, 'news me undefined', 'news done', 'received'])
  log.length = 0
  await exchange.exchange()
  expect(log.slice(-3)).toEqual(['news me +', 'news done', 'received'])
})

test('an urgent exchange has pauses and conversation notes, and ends once both are written; the last publication has everything', async () => {
  const { exchange, log } = scene({ before: () => new Promise(resolve => setImmediate(resolve)) })
  await exchange.publishUrgent()
  expect(log).toEqual(published.slice(3))
  log.length = 0
  await exchange.publishAll()
  expect(log).toEqual(published)
})

test('nothing is written if there is nothing to publish', async () => {
  const { exchange, log } = scene({ rows: 0 })
  await exchange.publishAll()
  expect(log).toEqual(['marked'])
})

test('a store that fails is logged once, until it has responded', async () => {
  let isDown = true
  const { exchange, warned } = scene({ before: async () => (isDown ? Promise.reject(new Error('down')) : undefined) })
  for (let times = 0; times < 3; times += 1) await exchange.exchange()
  expect([warned.length, exchange.isFailing()]).toEqual([1, true])
  isDown = false
  await exchange.exchange()
  expect(exchange.isFailing()).toBe(false)
  isDown = true
  await exchange.publishUrgent()
  await exchange.lookUpReaders('key')
  expect([warned.length, exchange.isFailing()]).toEqual([2, true])
})

test('a request waits fifty milliseconds for a lookup, and a late response is not a failure and is still used', async () => {
  let answer: (() => void) | undefined
  const { exchange, log, clock } = scene({
    before: () =>
      new Promise(resolve => {
        answer = resolve
      }),
  })
  let isOver = false
  const looking = exchange.lookUpReaders('key').then(() => {
    isOver = true
  })
  await clock.advance(49)
  expect([isOver, log]).toEqual([false, ['readers 64']])
  await clock.advance(1)
  await looking
  expect(exchange.isFailing()).toBe(false)
  answer?.()
  await clock.advance(0)
  expect(log).toEqual(['readers 64', 'readers done', 'holders'])
})

test('an exchange times out after five seconds, the last publication after two', async () => {
  const { exchange, clock } = scene({ before: () => new Promise(() => {}) })
  const over: string[] = []
  void exchange.exchange().then(() => over.push('exchange'))
  void exchange.publishAll().then(() => over.push('last'))
  for (const [after, expected] of [
    [1_999, []],
    [1, ['last']],
    [2_999, ['last']],
    [1, ['last', 'exchange']],
  ] as const) {
    await clock.advance(after)
    expect(over).toEqual(expected)
  }
})
