import type { Equivalent } from './equivalents.ts'

/** Judged one by one, by reading and with a test that tried to tell the difference. */
export const equivalents: readonly Equivalent[] = []
