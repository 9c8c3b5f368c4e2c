import { readFileSync } from 'node:fs'
import { mergeConfig } from 'vite'
import { defineConfig } from 'vitest/config'
import workspace from '../../../../vitest.workspace.ts'
import { instrument, type Numbered } from './instrument.ts'

// The workspace's own tests over instrumented sources. `SIGNALBOX_MUTANTS` names the file that lists the mutants.

const listed: readonly Numbered[] = JSON.parse(readFileSync(process.env.SIGNALBOX_MUTANTS ?? '', 'utf8'))
const byFile = Map.groupBy(listed, ({ file }) => file)
const setup = new URL('switch-mutant.ts', import.meta.url).pathname

/** Packages whose tests are about what they add, or start other programs. */
const packagesLeftOut = ['bench', 'catalog', 'cli', 'signalbox', 'storage-redis']

/** Tests that read source text, or whose gateways run in programs of their own, where no mutant can be switched on. */
const filesLeftOut = [
  ...['style', 'layers', 'runtimes', 'image', 'launcher', 'docs', 'bundle', 'own-properties', 'adapters', 'readme', 'installs', 'packs'],
  ...['web-socket-runtimes', 'item-references', 'bundled-listener', 'catalog-bundle', 'first-request', 'fuzz-bodies'],
  ...[
    'fault-catalogue-waits',
    'fault-catalogue-web-socket',
    'agents-matrix',
    'durable-object',
    'd1',
    'bun',
    'workers',
    'postgres-silence',
    'postgres-restart',
  ],
]

const config = mergeConfig(workspace, {
  root: new URL('../../../..', import.meta.url).pathname,
  plugins: [
    {
      name: 'signalbox-mutants',
      enforce: 'pre' as const,
      transform(code: string, id: string) {
        const mutants = byFile.get(id.replace(/\?.*$/, ''))
        return mutants && instrument(code, mutants)
      },
    },
  ],
})

/** In the order in which they are asked for: nearest first. */
class AsAsked {
  sort<Specification>(files: readonly Specification[]): Promise<readonly Specification[]> {
    return Promise.resolve(files)
  }
  shard<Specification>(files: readonly Specification[]): Promise<readonly Specification[]> {
    return Promise.resolve(files)
  }
}

const { test } = config as { test: { projects: readonly object[] } }
const { projects: _, ...shared } = test

export default defineConfig({
  ...config,
  test: {
    ...shared,
    // A cached module holds the mutants of another run: the cache goes by its text, not by the list.
    fsModuleCache: false,
    reporters: [],
    maxWorkers: 1,
    // A failure by the load of the machine catches nothing.
    retry: 1,
    setupFiles: [setup],
    globalSetup: ['packages/testing/test/services-setup.ts'],
    sequence: { sequencer: AsAsked },
    include: ['packages/*/{src,test}/**/*.test.ts'],
    exclude: [
      '**/node_modules/**',
      '**/storage-faults/**',
      ...packagesLeftOut.map(name => `packages/${name}/**`),
      ...filesLeftOut.map(name => `**/${name}.test.ts`),
    ],
  },
} as never)
