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

/** JSON text of a value without functions; infinite numbers and NaN stay what they are. `encode({ floor: -Infinity })` */
export const encode = (value: unknown): string => JSON.stringify(value, toPlain)

/** The value of a text of `encode`. Throws a SyntaxError for another text. */
export const decode = (text: string): unknown => (text.includes('\\u0000') ? JSON.parse(text, fromPlain) : JSON.parse(text))

/** A call of a verb of a store. */
export interface Call {
  readonly store: string
  readonly verb: string
  readonly args: readonly unknown[]
}

/** What a call came to. Errors that say that a request is wrong keep their kind. */
export type Outcome = { readonly value?: unknown } | { readonly error: { readonly isRange: boolean; readonly message: string } }
