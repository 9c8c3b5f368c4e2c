import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

const dist = resolve(import.meta.dirname, '../dist')

const requestLog = resolve(import.meta.dirname, '../../cli/src/log.ts')

/**
 * Bundles the gateway into one file with the compiler and target of the published packages, so that the measured code is what users run,
 * without building all packages first. Undici stays external, as it does for users.
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
 * Bundles the router as the body of a function of `exports`, `require` and `changed`: tuning constants by name, as in `{
 * 'circuitBreaker.firstPauseMs': 4_000 }`. Each call creates another router, so many differently tuned ones can run in one process, without
 * changes to the published router.
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
  // Arguments of the module become arguments of the function.
  return `const module = {}\n${outputFiles[0]?.text ?? ''}\nObject.assign(exports, module.exports)`
}

/** Changes constants before any module reads them, which each does when it is loaded. */
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
