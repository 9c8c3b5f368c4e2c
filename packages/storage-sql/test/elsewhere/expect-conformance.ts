import { expect } from 'vitest'
import type { TestEnd } from './vitest.ts'

/** The names of properties, which take many runs: most of the time of the suite. They run in full where the store itself is tested. */
export const rareOnly = 'agree|whatever|of 1,000|close writes'

/** Expects that all tests passed, and that there were about as many as there are. */
export function expectConformance(ends: readonly TestEnd[]): void {
  const failed = ends.filter(({ end }) => end === 'failed')
  expect(failed.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([])
  expect(ends.filter(({ end }) => end === 'passed').length).toBeGreaterThan(190)
}
