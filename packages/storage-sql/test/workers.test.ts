import { Miniflare } from 'miniflare'
import { expect, inject, onTestFinished, test } from 'vitest'
import { bundleTests } from './other-runtimes/bundle.ts'
import { expectConformance } from './other-runtimes/expect-conformance.ts'

/** Two Workers over the object of the first. */
async function startWorkers({ useSQLite = true } = {}) {
  const modules = [{ type: 'ESModule' as const, path: 'workers.mjs', contents: await bundleTests('workers.ts') }]
  const object = { className: 'StorageObject', useSQLite }
  const worker = { modules, compatibilityDate: '2026-01-01' }
  const miniflare = new Miniflare({
    workers: [
      { ...worker, name: 'one', durableObjects: { STORAGE: object } },
      { ...worker, name: 'two', durableObjects: { STORAGE: { ...object, scriptName: 'one' } } },
    ],
  })
  onTestFinished(() => miniflare.dispose())
  const ask = async (name: string, path: string): Promise<unknown> => {
    const asked = (await miniflare.getWorker(name)) as unknown as { fetch(url: string): Promise<Response> }
    return (await asked.fetch(`http://localhost${path}`)).json()
  }
  const call = (verb: string, argument: unknown): Promise<unknown> =>
    ask('two', `/call?verb=${verb}&argument=${encodeURIComponent(JSON.stringify(argument))}`)
  return { ask, call }
}

// Each call leaves the Worker, which takes a minute for the whole suite.
if (inject('isLongRun'))
  test('the object conforms when called from a Worker', { timeout: 900_000 }, async () => {
    const { ask } = await startWorkers()
    expectConformance((await ask('two', '/?share=0.03')) as Parameters<typeof expectConformance>[0])
  })

test('of 1,000 concurrent holds of two Workers on credit for 333, exactly 333 are admitted, and 200 on a limit of 200', async () => {
  const { ask, call } = await startWorkers()
  await call('credit', { id: 'c', account: 'a', amount: 3_330, at: 1_750_000_000_000 })
  const found = (await Promise.all(['one', 'two'].map(name => ask(name, `/race?name=${name}&holds=500`)))) as readonly [number, number][]
  expect(found.map(([held]) => held).reduce((sum, each) => sum + each)).toBe(333)
  expect(found.map(([, taken]) => taken).reduce((sum, each) => sum + each)).toBe(200)
  expect(await call('balance', 'a')).toEqual({ value: { balance: 3_330, held: 3_330, credited: 3_330, spent: 0 } })
  const { value } = (await call('holds', { limit: 1_000 })) as {
    readonly value: readonly { readonly id: string; readonly journal: string }[]
  }
  expect(value.map(({ journal }) => journal)).toEqual(value.map(({ id }) => `journal of ${id}`))
})

test('an invalid call fails as it would in process', async () => {
  const { call } = await startWorkers()
  const wrong = await call('credit', { id: 'c', account: 'a', amount: 1e300, at: 1 })
  expect(wrong).toMatchObject({ name: 'RangeError' })
})

test('an object whose class was deployed without SQLite names the wrong setting', async () => {
  const { call } = await startWorkers({ useSQLite: false })
  expect(await call('balance', 'a')).toMatchObject({ message: expect.stringMatching(/change `new_classes` to `new_sqlite_classes`/) })
})
