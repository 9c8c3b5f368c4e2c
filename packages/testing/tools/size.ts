import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

// What a program loads when it starts, minified and gzipped, measured from what is published (`pnpm build` first). What a program
// imports only when it is needed (management, the OpenAPI document) is not counted.

interface Program {
  readonly name: string
  readonly code: string
  /** Bytes. */
  readonly budget: number
  /** One file, with all that may be loaded later. Where nothing may be, esbuild's splitting would keep what a dead `import()` could share. */
  readonly isWhole?: true
}

const programs: readonly Program[] = [
  { name: 'createGateway', code: `export { createGateway } from '@signalbox/core'`, budget: 142_000 },
  {
    name: 'an app: gateway, openai, memory storage and fetch handler',
    code: `
      import { createGateway } from '@signalbox/core'
      import { openai } from '@signalbox/core/providers'
      import { createFetchHandler } from '@signalbox/fetch-handler'
      import { memoryStorage } from '@signalbox/storage-memory'
      export default createFetchHandler(createGateway({ providers: [openai()], models: [], storage: memoryStorage() }))`,
    budget: 210_500,
  },
  { name: 'isGatewayError', code: `export { isGatewayError } from '@signalbox/core'`, budget: 1_000, isWhole: true },
  { name: 'createRouter', code: `export { createRouter } from '@signalbox/router'`, budget: 21_500 },
  { name: 'createClient', code: `export { createClient } from '@signalbox/client'`, budget: 3_000 },
]

for (const { name, code, budget, isWhole } of programs) {
  const size = await startSize(code, isWhole !== true)
  console.log(`size: ${name} is ${(size / 1000).toFixed(1)} kB minified and gzipped, of ${budget / 1000} kB`)
  if (size > budget) process.exitCode = 1
}

interface Start {
  readonly name: string
  readonly imports: readonly string[]
  /** Files that Node loads. They are the guard; the milliseconds, as seen here, vary with the machine. */
  readonly budget: number
}

const starts: readonly Start[] = [
  { name: 'the app', imports: ['core', 'core/providers', 'fetch-handler', 'storage-memory'], budget: 90 },
  { name: 'the catalog', imports: ['catalog'], budget: 3 },
]

for (const { name, imports, budget } of starts) {
  const count = `
    import { registerHooks } from 'node:module'
    let modules = 0
    registerHooks({ load(url, context, next) { modules += url.startsWith('file:') ? 1 : 0; return next(url, context) } })
    const from = performance.now()
    for (const name of ${JSON.stringify(imports)}) await import('@signalbox/' + name)
    console.log(JSON.stringify({ modules, milliseconds: Math.round(performance.now() - from) }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', count], {
    cwd: resolve(import.meta.dirname, '../../signalbox'),
  })
  const { modules, milliseconds } = JSON.parse(stdout)
  console.log(`size: ${name} loads ${modules} files in Node, of ${budget}, in ${milliseconds} ms`)
  if (modules > budget) process.exitCode = 1
}

/** Bytes of the chunks that a program loads before its first statement. */
async function startSize(contents: string, splitting: boolean): Promise<number> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: resolve(import.meta.dirname, '..') },
    bundle: true,
    splitting,
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
