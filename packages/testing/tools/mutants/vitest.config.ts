import { defineConfig } from 'vitest/config'
import workspace from '../../../../vitest.workspace.ts'

/** Folders and files. */
const tests = process.env.SIGNALBOX_MUTANT_TESTS?.split(',') ?? []

/** Where a database is part of what is tested. */
const withServices = tests.some(path => path.startsWith('packages/storage-'))

// Some tests of the usual run, in one project.
export default defineConfig({
  resolve: workspace.resolve ?? {},
  ssr: workspace.ssr ?? {},
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
    provide: { isLongRun: false },
    include: tests.map(path => (path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`)),
    exclude: ['**/node_modules/**', '**/*.{long,timing,recorded}.test.ts'],
    globalSetup: withServices ? ['packages/testing/test/services-setup.ts'] : [],
  },
})
