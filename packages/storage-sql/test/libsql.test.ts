import { createClient } from '@libsql/client'
import { describeStorage } from '@signalbox/testing/storage'
import { expect, inject, onTestFinished, test } from 'vitest'
import { libsqlStorage } from '../src/libsql.ts'
import { temporaryFile } from './temporary-file.ts'

const make = async () => {
  const url = `file:${temporaryFile()}`
  const storage = libsqlStorage({ url })
  return {
    storage,
    async reopen() {
      await storage.close()
      return libsqlStorage({ url })
    },
  }
}

if (inject('isLongRun')) describeStorage('libsql', make, { lacks: ['spool'] })

test('calls of the same turn share a batch, and one that the database refuses fails alone', async () => {
  const client = createClient({ url: `file:${temporaryFile()}` })
  let batches = 0
  const { batch } = client
  client.batch = (...given) => {
    batches++
    return batch.apply(client, given)
  }
  const storage = libsqlStorage(client)
  onTestFinished(() => storage.close())
  await storage.ping()
  const credit = (id: string) => storage.ledger.credit({ id, account: 'a', amount: 5, at: 1 })
  batches = 0
  await Promise.all(Array.from({ length: 40 }, (_, n) => credit(`c${n}`)))
  expect(batches).toBe(1)
  await client.execute("CREATE TRIGGER odd BEFORE INSERT ON movements WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, 'refused'); END")
  const outcomes = await Promise.allSettled(['good', 'bad', 'better'].map(credit))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((await storage.ledger.balance('a')).balance).toBe(210)
})

test('while another process has the lock of a libSQL file, a call waits and then runs once', async () => {
  const url = `file:${temporaryFile()}`
  const storage = libsqlStorage({ url })
  onTestFinished(() => storage.close())
  await storage.ping()
  const other = createClient({ url })
  onTestFinished(() => other.close())
  const transaction = await other.transaction('write')
  let isDone = false
  const credits = Promise.all([1, 2, 3].map(n => storage.ledger.credit({ id: `c${n}`, account: 'a', amount: 5, at: 1 }))).then(() => {
    isDone = true
  })
  await new Promise(resolve => setTimeout(resolve, 100))
  expect(isDone).toBe(false)
  await transaction.commit()
  await credits
  expect((await storage.ledger.balance('a')).balance).toBe(15)
})

test('a call that cannot get the lock of a libSQL file fails in time, and so does a call on a closed storage', async () => {
  const url = `file:${temporaryFile()}`
  const storage = libsqlStorage({ url }, { timeoutMs: 200 })
  await storage.ping()
  const other = createClient({ url })
  const transaction = await other.transaction('write')
  await expect(storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: 1 })).rejects.toThrow('libsqlStorage: ')
  await transaction.rollback()
  other.close()
  await storage.close()
  await expect(storage.ping()).rejects.toThrow('is closed')
})
