import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

// Mutates files with StrykerJS and runs the tests of their packages, or those named: `pnpm lab mutants packages/core/src/metering/money.ts
// --tests packages/core/src/metering --tests packages/testing/test/bounded-money.test.ts`. Part of a file: `packages/router/src/plan.ts:20-40`.
// Stryker changes the files in place, so that packages import each other's mutants, and puts them back at its end.

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string', multiple: true } },
})
const packages = files.map(file => /^packages\/[^/]+(?=\/src\/.+\.ts)/.exec(file)?.[0])
if (files.length === 0 || packages.includes(undefined)) {
  console.error('Name sources as in `pnpm lab mutants packages/router/src/timeout.ts`.')
  process.exit(2)
}
const tests = values.tests ?? [...new Set(packages)].flatMap(name => [`${name}/src`, `${name}/test`])
const config = join(import.meta.dirname, 'stryker.config.json')
const { status } = spawnSync(
  'stryker',
  ['run', config, '--mutate', files.join(','), '--tempDirName', join(tmpdir(), 'signalbox-mutants')],
  {
    env: { ...process.env, SIGNALBOX_MUTANT_TESTS: tests.join(',') },
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
