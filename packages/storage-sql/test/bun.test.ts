import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { bundleTests } from './other-runtimes/bundle.ts'
import { expectConformance, usualShare } from './other-runtimes/expect-conformance.ts'
import { memoryFolder, temporaryFile } from './temporary-file.ts'

/** The real program, not a wrapper, so that the started process can be ended. */
const bun = resolve(import.meta.dirname, '../../../node_modules/bun/bin/bun.exe')

const isLongRun = inject('isLongRun')

test(`SQLite files${isLongRun ? ' and memory' : ''} conform in Bun, with its own SQLite`, async () => {
  const program = join(dirname(temporaryFile()), 'suite.mjs')
  writeFileSync(program, await bundleTests('bun.ts', { external: ['node:*'] }))
  const args = ['--no-install', program, `${isLongRun ? 1 : usualShare}`]
  const env = isLongRun ? process.env : { ...process.env, TMPDIR: memoryFolder() }
  const { stdout } = await promisify(execFile)(bun, args, { timeout: 1_200_000, maxBuffer: 2 ** 26, env })
  const ends = JSON.parse(stdout)
  // In memory the statements are the same.
  const half = isLongRun ? ends.length / 2 : ends.length
  expectConformance(ends.slice(0, half))
  if (isLongRun) expectConformance(ends.slice(half))
  expect(ends[0].name).toContain('bun:sqlite')
})
