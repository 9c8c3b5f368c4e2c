import type { DialectName, JsonObject } from './wire.ts'

/** What was really sent, beside our reading of it: the wire object that the reading came from. */
export interface Original {
  readonly dialect: DialectName
  readonly body: JsonObject
  /** Where it stood in the caller's body, as in `messages[2].content[1]`. */
  readonly path?: string
}

const origin = Symbol('signalbox.original')

interface Remembered {
  readonly reading: object
  readonly original: Original
}

/**
 * Remembered by identity: the note names the very object that it belongs to, so a changed reading (a spread, a `prepare`
 * hook's copy) carries a note that no longer fits and counts as having no original. An edit can never be undone by
 * someone re-sending what was there before it. (A note on the object costs a twentieth of a WeakMap entry, per event.)
 */
export function remember<T extends object>(reading: T, original: Original | undefined): T {
  if (original) (reading as { [origin]?: Remembered })[origin] = { reading, original }
  return reading
}

/** What the caller calls this part of the request, for warnings about it; `otherwise` is its place among our items. */
export const pathOf = (reading: object, otherwise: string): string => originalOf(reading)?.path ?? otherwise

export function originalOf(reading: object): Original | undefined {
  const note = (reading as { readonly [origin]?: Remembered })[origin]
  return note?.reading === reading ? note.original : undefined
}
