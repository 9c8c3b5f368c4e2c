import { onTestFinished } from 'vitest'
import type { Storage } from '../storage.ts'

/** A storage under test. */
export interface Subject {
  readonly storage: Storage
  /** Closes the storage and opens the same data again. Absent if nothing outlives the process. */
  readonly reopen?: () => Promise<Storage>
}

/** Scales the default number of random sequences. */
export type RunCount = (usual: number) => number

/** Makes an empty storage for one test. */
export type MakeStorage = () => Promise<Subject>

/** Wraps `make` so that its storages are closed after the test. `const { storage } = await opener(make)()` */
export function opener(make: MakeStorage): MakeStorage {
  const closing = (storage: Storage): Storage => {
    onTestFinished(() => storage.close())
    return storage
  }
  return async () => {
    const { storage, reopen } = await make()
    closing(storage)
    return { storage, ...(reopen && { reopen: async () => closing(await reopen()) }) }
  }
}

/** The time at which tests start, in Unix milliseconds. */
export const T0 = 1_750_000_000_000
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Strings that break careless stores. Each is used as an id, a name and a key. */
export const ODD_STRINGS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  "O'Brien; DROP TABLE records; --",
  '"double" `tick` \\ back',
  'new\nline\ttab\r',
  '%_*?[a-z]$1',
  'zwölf 日本語 👩‍👩‍👧 \u202e',
  '{"json":[1,null]}',
  'n'.repeat(10_000),
]

/** Modifies every array and field of a value, as a careless caller could. A frozen value is as good as a copy. */
export function spoil(answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return
  for (const [key, value] of Object.entries(answer)) {
    spoil(value)
    Reflect.set(answer, key, 'spoiled')
  }
  if (Array.isArray(answer) && Object.isExtensible(answer)) answer.push('spoiled')
}
