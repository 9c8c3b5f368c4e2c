import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Workspace packages are read from their sources, so nothing needs building to be tested. What ships `module` builds means
// them for bundlers: Node cannot load every one of them.
const conditions = ['signalbox-source', ...defaultServerConditions.filter(condition => condition !== 'module')]

// The usual run meets each kind of thing; the long one multiplies it: more runs of a property, more mutations, every pair of
// dialects. Tests read `inject('isLongRun')`.
declare module 'vitest' {
  interface ProvidedContext {
    isLongRun: boolean
  }
}

// Processes that tests start load the same sources: what one has compiled, the next one reads.
process.env.NODE_COMPILE_CACHE ??= new URL('node_modules/.cache/compile', import.meta.url).pathname

/** Files of thousands of requests: up to four times slower in a worker that has run others before. Each has a worker of its own. */
const heavyFiles = ['packages/testing/test/fault*.test.ts', 'packages/testing/test/agents-matrix.test.ts']

const postgresServer = 'packages/testing/test/postgres-server.ts'
const globalSetups: Readonly<Record<string, readonly string[]>> = {
  cli: ['packages/cli/test/bundle.ts', postgresServer],
  'storage-redis': [postgresServer],
  'storage-sql': [postgresServer],
  testing: [postgresServer],
}

/** Tests that start processes and databases, and wait for them more than they compute: four files at a time. */
const waiting = { maxWorkers: 4, sequence: { groupOrder: 0 } } as const
/** Tests that keep a core busy: three files at a time, since some wait too. */
const computing = { maxWorkers: 3, sequence: { groupOrder: 1 } } as const
const waitingPackages = new Set(['cli', 'node-http', 'signalbox', 'storage-redis', 'storage-sql'])
const waitingFiles = [
  'packages/testing/test/storage-faults/*.test.ts',
  ...['adapters', 'installs', 'item-references', 'kill', 'readme', 'runtimes', 'web-socket-runtimes'].map(
    name => `packages/testing/test/${name}.test.ts`,
  ),
]

// What `pnpm generate` writes is not in the repository.
if (!existsSync(new URL('packages/client/src/generated', import.meta.url)))
  execFileSync('node', ['--conditions=signalbox-source', new URL('packages/client/tools/generate.ts', import.meta.url).pathname])

const packages = readdirSync(new URL('packages', import.meta.url))

/** For tests of the packages that it depends on: as their dependency it would make a cycle, which no build order has. */
const alias = [{ find: /^@signalbox\/testing$/, replacement: new URL('packages/testing/src/index.ts', import.meta.url).pathname }]

export default defineConfig({
  resolve: { conditions, alias },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Files of a worker share its modules: half of the time would be loading them.
    isolate: false,
    provide: { isLongRun: process.env.SIGNALBOX_TESTS === 'long' },
    reporters: ['default', './packages/testing/tools/count-reporter.ts'],
    projects: [
      ...packages.map(name => ({
        extends: true as const,
        test: {
          name,
          include: [`packages/${name}/src/**/*.test.ts`, `packages/${name}/test/**/*.test.ts`],
          exclude: [...heavyFiles, ...waitingFiles],
          ...(waitingPackages.has(name) ? waiting : computing),
          globalSetup: [...(globalSetups[name] ?? [])],
        },
      })),
      { extends: true as const, test: { name: 'heavy', include: heavyFiles, isolate: true, ...computing } },
      { extends: true as const, test: { name: 'processes', include: waitingFiles, globalSetup: [postgresServer], ...waiting } },
      { extends: true as const, test: { name: 'examples', include: ['examples/**/*.test.ts'], ...waiting } },
    ],
  },
})
