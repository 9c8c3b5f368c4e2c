import { appendFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, type TestContext, vi } from 'vitest'

// Runs before each test file. One mutant is on, or none; which ones a file reaches is written down where it is asked for.

const { SIGNALBOX_MUTANT: on, SIGNALBOX_MUTANT_BY_FILE: byFile, SIGNALBOX_MUTANT_HITS: hitsFile } = process.env
/** What runs as modules are loaded does so once for the test files of a worker: it is noted apart. */
const loaded = new Set<number>()
const reached = new Set<number>()
let active = on === undefined ? -1 : Number(on)
let noted = loaded

Object.assign(globalThis, {
  __mutant(id: number): boolean {
    if (hitsFile !== undefined) noted.add(id)
    return id === active
  },
})

beforeAll(() => {
  noted = reached
  const mutants: Readonly<Record<string, number>> = JSON.parse(byFile ?? '{}')
  active = mutants[expect.getState().testPath ?? ''] ?? active
})

// One test that fails is enough: the others of its file are skipped.
let before: TestContext['task'] | undefined
let hasFailed = false
if (hitsFile === undefined) {
  // A test that waits in vain: what takes long is tried again without the mutant.
  vi.setConfig({ testTimeout: 15_000, hookTimeout: 15_000 })
  beforeEach(({ task, skip }) => {
    hasFailed ||= before?.result?.state === 'fail'
    before = task
    if (hasFailed) skip()
  })
}

afterAll(() => {
  if (byFile !== undefined) active = -1
  if (hitsFile === undefined) return
  const line = { file: expect.getState().testPath, reached: [...reached], loaded: [...loaded] }
  appendFileSync(hitsFile, `${JSON.stringify(line)}\n`)
})
