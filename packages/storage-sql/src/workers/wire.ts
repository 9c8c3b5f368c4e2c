// What crosses between a Worker and the object: JSON, which also carries the numbers that JSON has no text for.

/** Marks a text that stands for a number, or that begins with the mark itself. */
const MARK = '\u0000'

const toPlain = (_: string, value: unknown): unknown => {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${MARK}${value}`
  return typeof value === 'string' && value.startsWith(MARK) ? `${MARK}"${value}` : value
}

const fromPlain = (_: string, value: unknown): unknown => {
  if (typeof value !== 'string' || !value.startsWith(MARK)) return value
  return value[1] === '"' ? value.slice(2) : Number(value.slice(1))
}

/** JSON text of a value without functions; infinite numbers and NaN stay what they are. `toWire({ floor: -Infinity })` */
export const toWire = (value: unknown): string => JSON.stringify(value, toPlain)

/** The value of a text of `toWire`. Throws a SyntaxError for another text. */
export const fromWire = (text: string): unknown => (text.includes('\\u0000') ? JSON.parse(text, fromPlain) : JSON.parse(text))

/** A call of a method of the storage, such as `ledger.settle`. */
export interface StoreCall {
  readonly method: string
  readonly args: readonly unknown[]
}

/** What a call came to. Errors that say that a request is wrong keep their kind. */
export type CallOutcome = { readonly value?: unknown } | { readonly error: { readonly isRange: boolean; readonly message: string } }
