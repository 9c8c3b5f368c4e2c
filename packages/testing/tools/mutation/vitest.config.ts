import { readFileSync } from 'node:fs'
import { mergeConfig } from 'vite'
import { defineConfig } from 'vitest/config'
import workspace from '../../../../vitest.workspace.ts'
import { instrument, type Numbered } from './instrument.ts'

// The workspace's own tests over instrumented sources. `SIGNALBOX_MUTANTS` names the file that lists the mutants.

const listed: readonly Numbered[] = JSON.parse(readFileSync(process.env.SIGNALBOX_MUTANTS ?? '', 'utf8'))
const byFile = Map.groupBy(listed, ({ file }) => file)
const setup = new URL('switch-mutant.ts', import.meta.url).pathname

/** Tests that read source text, or run built or other programs: no mutant reaches them. */
const exclude = ['style', 'layers', 'runtimes', 'image', 'launcher', 'docs', 'bundle', 'own-properties'].map(name => `**/${name}.test.ts`)

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

const { test } = config as { test: { projects: readonly { test: object }[] } }

export default defineConfig({
  ...config,
  test: {
    ...test,
    reporters: ['dot'],
    // A cached module holds the mutants of another run: the cache goes by its text, not by the list.
    fsModuleCache: false,
    projects: test.projects
      .filter(({ test }) => !('name' in test && test.name === 'examples'))
      .map(project => ({
        ...project,
        test: { ...project.test, isolate: true, setupFiles: [setup], exclude: ['**/node_modules/**', ...exclude] },
      })),
  },
} as never)
