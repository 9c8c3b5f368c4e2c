import { appendFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'

// Runs before each test file. One mutant is on, or none; which ones a file reaches is written down where it is asked for.

const { SIGNALBOX_MUTANT: on, SIGNALBOX_MUTANT_HITS: hitsFile } = process.env
const reached = new Set<number>()
const active = on === undefined ? -1 : Number(on)

Object.assign(globalThis, {
  __mutant(id: number): boolean {
    if (hitsFile !== undefined) reached.add(id)
    return id === active
  },
})

if (hitsFile !== undefined)
  afterAll(() => appendFileSync(hitsFile, `${JSON.stringify({ file: expect.getState().testPath, reached: [...reached] })}\n`))
