import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

const dist = resolve(import.meta.dirname, '../dist')

const requestLog = resolve(import.meta.dirname, '../../cli/src/log.ts')

/**
 * The gateway's side as one file, made by the compiler and for the target that the published packages are made with, so that
 * what is measured is what users run, without having to build all packages first. Undici stays outside, as it does for users.
 */
export async function bundleGateway(): Promise<string> {
  const outfile = join(dist, 'gateway.js')
  await build({
    stdin: {
      contents: `import { createLog } from ${JSON.stringify(requestLog)}\nimport { runGateway } from './children/gateway.ts'\nawait runGateway(createLog)`,
      resolveDir: import.meta.dirname,
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    conditions: ['signalbox-source'],
    external: ['undici', 'pg-native'],
    // `ws` is CommonJS, and requires modules of Node.
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
  })
  return outfile
}

const constants = resolve(import.meta.dirname, '../../router/src/constants.ts')

/**
 * The router as the body of a function of `exports`, `require` and `changed`: tuning constants by name, as in
 * `{ 'circuitBreaker.firstPauseMs': 4_000 }`. Each call makes another router, so many differently tuned ones live in one process, and the router
 * that users run knows nothing of it.
 */
export async function bundleTunableRouter(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { createRouter } from '@signalbox/router'\nexport { tuning } from ${JSON.stringify(constants)}`,
      resolveDir: import.meta.dirname,
    },
    write: false,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'es2023',
    conditions: ['signalbox-source'],
    plugins: [changedConstants],
  })
  // What would be given to the module is given to the function.
  return `const module = {}\n${outputFiles[0]?.text ?? ''}\nObject.assign(exports, module.exports)`
}

/** Changes them before any module that reads the constants: each reads them as it is loaded. */
const changedConstants: Plugin = {
  name: 'changed constants',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]router[\\/]src[\\/]constants\.ts$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}${change}`,
      loader: 'ts',
    }))
  },
}

const change = `
for (const [name, value] of Object.entries(changed)) {
  const keys = name.split('.')
  const last = keys.pop()
  const group = keys.reduce((found, key) => found?.[key], tuning)
  if (typeof group?.[last] !== 'number') throw new Error('There is no tuning constant "' + name + '".')
  group[last] = value
}
`
