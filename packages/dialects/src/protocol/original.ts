import type { DialectName, JsonObject } from './wire.ts'

/** The wire object that a value was decoded from. */
export interface Original {
  readonly dialect: DialectName
  readonly body: JsonObject
  /** Its path in the client's body, as in `messages[2].content[1]`. */
  readonly path?: string
}

const origin = Symbol('signalbox.original')

interface Remembered {
  readonly decoded: object
  readonly original: Original
}

/**
 * Attaches the original to a decoded value. The note identifies the exact object it belongs to, so a changed copy (a spread, or the copy
 * made by a `transformRequest` hook) has no original, and an edit is never undone by sending the old value. (A note on the object costs a twentieth
 * of a WeakMap entry, per event.)
 */
export function remember<T extends object>(decoded: T, original: Original | undefined): T {
  if (original) (decoded as { [origin]?: Remembered })[origin] = { decoded, original }
  return decoded
}

/** The path of a decoded request part in the client's body, for warnings. `otherwise`: its path in the prompt. */
export const pathOf = (decoded: object, otherwise: string): string => originalOf(decoded)?.path ?? otherwise

/** The original of a decoded value; undefined if it has none or was copied. */
export function originalOf(decoded: object): Original | undefined {
  const note = (decoded as { readonly [origin]?: Remembered })[origin]
  return note?.decoded === decoded ? note.original : undefined
}
