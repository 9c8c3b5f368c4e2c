import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { filesWithoutServer } from './packages/testing/test/services-here.ts'

// Workspace packages are read from their sources, so nothing needs building to be tested. What ships `module` builds means
// them for bundlers: Node cannot load every one of them.
const conditions = ['signalbox-source', ...defaultServerConditions.filter(condition => condition !== 'module')]

// `SIGNALBOX_TESTS` names the run. The usual one (no name) meets each kind of thing; `long` multiplies it: more runs of a property, more
// mutations, every pair of dialects. Tests read `inject('isLongRun')`. `timing` measures, and `recorded`
// plays what providers sent.
declare module 'vitest' {
  interface ProvidedContext {
    isLongRun: boolean
  }
}

const run = process.env.SIGNALBOX_TESTS
const isLongRun = run === 'long'

/** Files that other runs have: those that measure time or memory, one at a time, those of the long run, and those that read recordings. */
const timingFiles = '**/*.timing.test.ts'
const longFiles = '**/*.long.test.ts'
const recordedFiles = '**/*.recorded.test.ts'
const excluded = [
  '**/node_modules/**',
  ...filesWithoutServer,
  ...(run === 'timing' ? [] : [timingFiles]),
  ...(isLongRun ? [] : [longFiles]),
  ...(run === 'recorded' ? [] : [recordedFiles]),
]

// Processes that tests start load the same sources: what one has compiled, the next one reads.
process.env.NODE_COMPILE_CACHE ??= new URL('node_modules/.cache/compile', import.meta.url).pathname

/** Files of thousands of requests, which in the long run are slower in a worker that has run others before: there each has one of its own. */
const heavyFiles = ['packages/testing/test/fault*.test.ts', 'packages/testing/test/agents-matrix.test.ts']

const services = 'packages/testing/test/services-setup.ts'
const programs = 'packages/testing/test/programs-setup.ts'

/** Tests that start processes and databases, and wait for them more than they compute. They start first, and what computes fills the gaps. */
const processFiles = [
  'packages/testing/test/storage-faults/*.test.ts',
  ...['adapters', 'end-users-processes', 'getting-started', 'installs', 'item-references', 'kill', 'runtimes', 'web-socket-runtimes'].map(
    name => `packages/testing/test/${name}{,.long}.test.ts`,
  ),
]

interface TestGroup {
  readonly name: string
  /** Names of packages. */
  readonly packages?: readonly string[]
  readonly files?: readonly string[]
  readonly exclude?: readonly string[]
  readonly globalSetup?: readonly string[]
  readonly isolate?: boolean
}

const waitingPackages = ['cli', 'node-http', 'signalbox', 'storage-redis', 'storage-sql']
const otherPackages = readdirSync(new URL('packages', import.meta.url)).filter(name => !waitingPackages.includes(name))

/**
 * Files of a group share workers, and so the modules that they have loaded, which costs more than most tests. Groups run in the order of
 * their names.
 */
const usualGroups: readonly TestGroup[] = [
  {
    name: '1 processes',
    packages: waitingPackages,
    files: [...processFiles, 'examples/**/*.test.ts'],
    globalSetup: [programs, services],
  },
  ...(isLongRun ? [{ name: '2 faults', files: heavyFiles, isolate: true }] : []),
  { name: '3 packages', packages: otherPackages, exclude: [...(isLongRun ? heavyFiles : []), ...processFiles], globalSetup: [services] },
]

/** Files of the usual run that have more cases where recordings are. */
const alsoRecorded = [
  'packages/dialects/src/laws.test.ts',
  'packages/providers/test/refusals/refusals.test.ts',
  'packages/testing/test/recorded.test.ts',
  'packages/testing/test/recorded/*.test.ts',
]

const groupsOfRun: Readonly<Record<string, readonly TestGroup[]>> = {
  timing: [{ name: 'timing', files: [timingFiles], isolate: true }],
  recorded: [{ name: 'recorded', files: [recordedFiles, ...alsoRecorded], globalSetup: [programs] }],
}

const groups = groupsOfRun[run ?? ''] ?? usualGroups

// What `pnpm generate` writes is not in the repository. The schemas of storage-sql take no time and are read by what writes the client.
const generator = (name: string): string => new URL(`packages/${name}/tools/generate.ts`, import.meta.url).pathname
execFileSync(process.execPath, [generator('storage-sql')])
if (!existsSync(new URL('packages/client/src/generated', import.meta.url)))
  execFileSync(process.execPath, ['--conditions=signalbox-source', generator('client')])

/** For tests of the packages that they depend on: as their dependencies they would make a cycle, which no build order has. */
const sourceFolders = {
  testing: 'testing/src',
  'testing/storage': 'testing/src/storage',
  gateway: 'gateway/src',
  providers: 'providers/src',
  workspaces: 'workspaces/src',
}
const alias = Object.entries(sourceFolders).map(([name, folder]) => ({
  find: new RegExp(`^@signalbox/${name}$`),
  replacement: new URL(`packages/${folder}/index.ts`, import.meta.url).pathname,
}))

export default defineConfig({
  resolve: { conditions, alias },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    // Tests wait for what must happen, and only one that fails gets this far: a machine may be a hundred times as busy as a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Files of a worker share its modules: half of the time would be loading them.
    isolate: false,
    provide: { isLongRun },
    reporters: ['default', './packages/testing/tools/count-reporter.ts'],
    // Four files at a time: some wait for processes, servers and the clock.
    maxWorkers: run === 'timing' ? 1 : 4,
    projects: groups.map(({ name, packages = [], files = [], exclude = [], globalSetup = [], isolate = false }) => ({
      extends: true as const,
      test: {
        name,
        include: [...packages.flatMap(each => [`packages/${each}/src/**/*.test.ts`, `packages/${each}/test/**/*.test.ts`]), ...files],
        exclude: [...excluded, ...exclude],
        isolate,
        globalSetup: [...globalSetup],
      },
    })),
  },
})
