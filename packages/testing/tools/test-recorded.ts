import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Runs the tests that play answers of real providers, which are not in the repository. Usage: pnpm test:recorded FOLDER, where FOLDER has
// `recordings/<vendor>/…` and `schemas/…`; names of test files may follow.

const [folder = '', ...files] = process.argv.slice(2)
const [recordings, schemas] = ['recordings', 'schemas'].map(name => join(resolve(folder), name)) as [string, string]
if (folder === '' || !existsSync(recordings) || !existsSync(schemas)) {
  console.error('Name a folder that has the folders `recordings` and `schemas`: pnpm test:recorded FOLDER')
  process.exit(2)
}
const env = { ...process.env, SIGNALBOX_TESTS: 'recorded', SIGNALBOX_RECORDINGS: recordings, SIGNALBOX_SCHEMAS: schemas }
const { status } = spawnSync('vitest', ['run', '--config', 'vitest.workspace.ts', ...files], {
  env,
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
process.exit(status ?? 1)
