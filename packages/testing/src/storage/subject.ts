import type { Storage } from '@signalbox/storage'
import { onTestFinished } from 'vitest'

/** A storage under test. */
export interface Subject {
  readonly storage: Storage
  /** Closes the storage and opens the same data again. Absent if nothing outlives the process. */
  readonly reopen?: () => Promise<Storage>
}

/** What a storage may do without. `reopen`: that its data outlive the process. */
export type Ability = 'items' | 'routing' | 'spool' | 'reopen'

const lacking = (ability: Ability): Error =>
  new Error(`The storage under test has no \`${ability}\`. Add it, or pass \`{ lacks: ['${ability}'] }\` to \`describeStorage\`.`)

/** An optional store. @throws An error if the storage has none. */
export function partOf<Name extends Exclude<Ability, 'reopen'>>(storage: Storage, name: Name): NonNullable<Storage[Name]> {
  const part = storage[name]
  if (part === undefined || part === null) throw lacking(name)
  return part as NonNullable<Storage[Name]>
}

/** The same data, opened again. @throws An error if nothing outlives the process. */
export async function reopened({ reopen }: Subject): Promise<Storage> {
  if (!reopen) throw lacking('reopen')
  return reopen()
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
