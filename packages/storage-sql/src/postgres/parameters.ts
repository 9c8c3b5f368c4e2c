// Arrays of parameters as text, in PostgreSQL's own format: one parameter carries a column of a whole batch.

/** Text that needs no quotes in an array. */
const plain = /^[A-Za-z0-9_:.@/+=-]+$/

const quotedElement = (text: string): string => `"${text.includes('"') || text.includes('\\') ? text.replace(/["\\]/g, '\\$&') : text}"`

/** An array of texts; absent ones are null. `textArray(['a', undefined])` */
export function textArray(values: readonly (string | null | undefined)[]): string {
  let out = '{'
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (index > 0) out += ','
    if (value === undefined || value === null) out += 'NULL'
    // The word NULL would be the value that is absent.
    else out += value.length < 100 && plain.test(value) && value.length !== 4 ? value : quotedElement(value)
  }
  return `${out}}`
}

/** An array of whole or other numbers; absent ones are null. `numberArray([1, undefined])` */
export function numberArray(values: readonly (number | null | undefined)[]): string {
  let out = '{'
  for (let index = 0; index < values.length; index++) {
    if (index > 0) out += ','
    out += values[index] ?? 'NULL'
  }
  return `${out}}`
}

/** JSON that PostgreSQL takes: half a surrogate pair becomes U+FFFD. `jsonParameter({ id })` */
export const jsonParameter = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part))

/** A whole number of a result, which drivers return as text, number or bigint. `toInteger(row.balance)` */
export function toInteger(value: unknown): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`postgresStorage: ${String(value)} in the database is outside the range of exact numbers.`)
  return number
}

/** The call of a function of the schema with parameters of these types. `callSql('signalbox', 'reserve', ['text[]'])` */
export function callSql(schema: string, name: string, types: readonly string[]): string {
  // Each goes as text: the driver then needs to know no type of array.
  const parameters = types.map((type, index) => `$${index + 1}::text::${type}`)
  return `SELECT ${schema}.${name}(${parameters.join(', ')}) AS answer`
}
