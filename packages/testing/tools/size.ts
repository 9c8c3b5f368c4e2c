import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

// Sizes of programs, minified and gzipped, measured from what is published (`pnpm build` first). Each is measured at its start, without
// what it imports only when it is needed; the app also with what its first answer loads, and whole, as one file.

interface Program {
  readonly name: string
  readonly code: string
  /** Bytes. */
  readonly budget: number
  /** One file, with all that may be loaded later. Where nothing may be, esbuild's splitting would keep what a dead `import()` could share. */
  readonly isWhole?: true
  /** An export of what is loaded later and counts too. */
  readonly later?: string
}

const app = `
  import { createGateway } from '@signalbox/gateway'
  import { openai } from '@signalbox/providers'
  import { toFetchHandler } from '@signalbox/fetch-handler'
  import { memoryStorage } from '@signalbox/storage-memory'
  export default toFetchHandler(createGateway({ providers: [openai()], models: [], storage: memoryStorage() }))`

const programs: readonly Program[] = [
  { name: 'createGateway', code: `export { createGateway } from '@signalbox/gateway'`, budget: 159_000 },
  {
    name: 'an app (gateway, openai, memory storage and fetch handler), up to its first answer to the Responses API,',
    code: app,
    budget: 236_000,
  },
  { name: 'the app with its first answer to the Chat Completions API', code: app, budget: 242_500, later: 'chatClient' },
  { name: 'the app with its first answer to the Messages API', code: app, budget: 242_000, later: 'messagesClient' },
  { name: 'the app with its first call of `gateway.workspaces`', code: app, budget: 259_000, later: 'openManagement' },
  { name: 'the app in one file, with all that it can load,', code: app, budget: 351_000, isWhole: true },
  { name: 'isGatewayError', code: `export { isGatewayError } from '@signalbox/gateway'`, budget: 500, isWhole: true },
  {
    name: 'the translation of Chat Completions to Messages and back',
    code: `export { chatClient, messagesProvider, translateRequest, translateResponse, translateStream } from '@signalbox/dialects'`,
    budget: 53_000,
    isWhole: true,
  },
  { name: 'createRouter', code: `export { createRouter } from '@signalbox/router'`, budget: 22_000 },
  { name: 'createClient', code: `export { createClient } from '@signalbox/client'`, budget: 2_700 },
]

for (const { name, code, budget, isWhole, later } of programs) {
  const size = await sizeOf(code, { splitting: isWhole !== true, later })
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
  { name: 'the app', imports: ['gateway', 'providers', 'fetch-handler', 'storage-memory'], budget: 105 },
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

/** Bytes of the chunks that a program loads before its first statement, and with the chunk that exports `later`. */
async function sizeOf(
  contents: string,
  { splitting, later }: { readonly splitting: boolean; readonly later: string | undefined },
): Promise<number> {
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
  const begins = [...outputs].filter(
    ([, { entryPoint, exports }]) =>
      entryPoint === '<stdin>' || (entryPoint !== undefined && later !== undefined && exports.includes(later)),
  )
  if (later !== undefined && begins.length < 2) throw new Error(`Nothing that is loaded later exports \`${later}\`.`)
  for (const [path] of begins) start(path)
  const names = new Set([...started].map(path => path.split('/').pop()))
  return outputFiles
    .filter(({ path }) => names.has(path.split('/').pop()))
    .reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0)
}
