import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

// What the catalog adds to the bundle of an app.

/** The bundle of a program, and how many bytes of it are the catalog's. */
async function bundled(program: string): Promise<{ readonly bytes: Uint8Array; readonly ofCatalog: number }> {
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
  return { bytes: outputFiles[0]?.contents ?? new Uint8Array(), ofCatalog }
}

const app = `
  import { createGateway } from '@signalbox/core'
  import { openai } from '@signalbox/core/providers'
  import { createFetchHandler } from '@signalbox/fetch-handler'
  import { serve } from '@signalbox/node-http'
  import { memoryStorage } from '@signalbox/storage-memory'
  export { createGateway, createFetchHandler, memoryStorage, openai, serve }`

test('an app that does not import the catalog has no byte of it', async () => {
  const { bytes, ofCatalog } = await bundled(app)
  expect(bytes.length).toBeGreaterThan(100_000)
  expect(ofCatalog).toBe(0)
})

test('the catalog alone is less than 20 kB compressed, without schemas', async () => {
  const { bytes, ofCatalog } = await bundled("import { catalog } from '@signalbox/catalog'; globalThis.known = catalog")
  expect(ofCatalog).toBeGreaterThan(200_000)
  expect(gzipSync(bytes, { level: 9 }).length).toBeLessThan(20_480)
})
