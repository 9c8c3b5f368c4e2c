import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

// What a program loads when it starts, minified and gzipped, measured from what is published (`pnpm build` first). What a program
// imports only when it is needed (management, the OpenAPI document) is not counted.

interface Program {
  readonly name: string
  readonly code: string
  /** Bytes. */
  readonly budget: number
}

const programs: readonly Program[] = [
  { name: 'createGateway', code: `export { createGateway } from '@signalbox/core'`, budget: 156_000 },
  {
    name: 'an app: gateway, openai, memory storage and fetch handler',
    code: `
      import { createGateway } from '@signalbox/core'
      import { openai } from '@signalbox/core/providers'
      import { createFetchHandler } from '@signalbox/fetch-handler'
      import { memoryStorage } from '@signalbox/storage-memory'
      export default createFetchHandler(createGateway({ providers: [openai()], models: [], storage: memoryStorage() }))`,
    budget: 228_000,
  },
  { name: 'isGatewayError', code: `export { isGatewayError } from '@signalbox/core'`, budget: 1_000 },
  { name: 'createRouter', code: `export { createRouter } from '@signalbox/router'`, budget: 21_500 },
  { name: 'createClient', code: `export { createClient } from '@signalbox/client'`, budget: 3_000 },
]

for (const { name, code, budget } of programs) {
  const size = await startSize(code)
  console.log(`size: ${name} is ${(size / 1000).toFixed(1)} kB minified and gzipped, of ${budget / 1000} kB`)
  if (size > budget) process.exitCode = 1
}

/** Bytes of the chunks that a program loads before its first statement. */
async function startSize(contents: string): Promise<number> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: resolve(import.meta.dirname, '..') },
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    outdir: '/out',
    metafile: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    external: ['node:*'],
    target: 'es2023',
    logLevel: 'error',
  })
  const outputs = new Map(Object.entries(metafile.outputs))
  const started = new Set<string>()
  const start = (path: string): void => {
    if (started.has(path)) return
    started.add(path)
    for (const { kind, path: imported } of outputs.get(path)?.imports ?? []) if (kind === 'import-statement') start(imported)
  }
  for (const [path, { entryPoint }] of outputs) if (entryPoint === '<stdin>') start(path)
  const names = new Set([...started].map(path => path.split('/').pop()))
  return outputFiles
    .filter(({ path }) => names.has(path.split('/').pop()))
    .reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0)
}
