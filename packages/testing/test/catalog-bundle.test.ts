import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

// What the catalog adds to the bundle of an app.

interface Bundle {
  readonly bytes: Uint8Array
  /** Bytes of it that are the catalog's. */
  readonly ofCatalog: number
  /** The files of other packages in it. */
  readonly others: readonly string[]
}

async function bundled(program: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: resolve(import.meta.dirname, '../../signalbox') },
    absWorkingDir: resolve(import.meta.dirname, '../../..'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    conditions: ['signalbox-source'],
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  const inputs = Object.values(metafile.outputs).flatMap(output => Object.entries(output.inputs))
  const ofCatalog = inputs.reduce((sum, [path, { bytesInOutput }]) => sum + (path.includes('packages/catalog/') ? bytesInOutput : 0), 0)
  const others = inputs.map(([path]) => path).filter(path => path !== '<stdin>' && !path.includes('packages/catalog/'))
  return { bytes: outputFiles[0]?.contents ?? new Uint8Array(), ofCatalog, others }
}

const app = `
  import { createGateway } from '@signalbox/gateway'
  import { openai } from '@signalbox/providers'
  import { toFetchHandler } from '@signalbox/fetch-handler'
  import { serve } from '@signalbox/node-http'
  import { memoryStorage } from '@signalbox/storage-memory'
  export { createGateway, toFetchHandler, memoryStorage, openai, serve }`

test('an app that does not import the catalog contains none of it', async () => {
  const { bytes, ofCatalog } = await bundled(app)
  expect(bytes.length).toBeGreaterThan(100_000)
  expect(ofCatalog).toBe(0)
})

test('the catalog alone is less than 22 kB compressed, without schemas', async () => {
  const { bytes, ofCatalog } = await bundled("import { catalog } from '@signalbox/catalog'; globalThis.known = catalog")
  expect(ofCatalog).toBeGreaterThan(200_000)
  expect(gzipSync(bytes, { level: 9 }).length).toBeLessThan(22_000)
})

test('importing the catalog loads two small other files', async () => {
  const { others } = await bundled("export * from '@signalbox/catalog'")
  expect(others.map(path => path.slice(path.lastIndexOf('/', path.lastIndexOf('/') - 1) + 1)).sort()).toEqual([
    'leven/index.js',
    'src/similar-names.ts',
  ])
})
