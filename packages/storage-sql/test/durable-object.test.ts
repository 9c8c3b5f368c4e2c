import { Miniflare } from 'miniflare'
import { expect, inject, onTestFinished, test } from 'vitest'
import { bundleTests } from './other-runtimes/bundle.ts'
import { expectConformance, usualShare } from './other-runtimes/expect-conformance.ts'

test('a Durable Object conforms', async () => {
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'durable-object.mjs', contents: await bundleTests('durable-object.ts') }],
    compatibilityDate: '2026-01-01',
    durableObjects: { OBJECTS: { className: 'Conformance', useSQLite: true } },
  })
  onTestFinished(() => worker.dispose())
  const response = await worker.dispatchFetch(`http://localhost/?share=${inject('isLongRun') ? 1 : usualShare}`)
  expectConformance(JSON.parse(await response.text()))
  expect(response.status).toBe(200)
})
