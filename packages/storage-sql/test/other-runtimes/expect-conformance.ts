import { expect } from 'vitest'
import type { TestEnd } from './vitest.ts'

/** The share of random sequences that a usual run does: they run in full where the store itself is tested. */
export const usualShare = 0.03

/** Expects that all tests passed, and that there were about as many as there are. */
export function expectConformance(ends: readonly TestEnd[]): void {
  const failed = ends.filter(({ end }) => end === 'failed')
  expect(failed.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([])
  expect(ends.length).toBeGreaterThan(190)
}
