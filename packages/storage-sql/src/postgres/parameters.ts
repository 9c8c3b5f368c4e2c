// Encodes arrays as text in PostgreSQL's format, so that one parameter carries a column of a whole batch.

/** Text that needs no quotes in an array. */
const plain = /^[A-Za-z0-9_:.@/+=-]+$/

const quotedElement = (text: string): string => `"${text.includes('"') || text.includes('\\') ? text.replace(/["\\]/g, '\\$&') : text}"`

/** Encodes an array of texts; undefined becomes null. `textArray(['a', undefined])` */
export function textArray(values: readonly (string | null | undefined)[]): string {
  let out = '{'
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (index > 0) out += ','
    if (value === undefined || value === null) out += 'NULL'
    // An unquoted NULL would mean null.
    else out += value.length < 100 && plain.test(value) && value.length !== 4 ? value : quotedElement(value)
  }
  return `${out}}`
}

/** Encodes an array of numbers; undefined becomes null. `numberArray([1, undefined])` */
export function numberArray(values: readonly (number | null | undefined)[]): string {
  let out = '{'
  for (let index = 0; index < values.length; index++) {
    if (index > 0) out += ','
    out += values[index] ?? 'NULL'
  }
  return `${out}}`
}

/** Encodes JSON that PostgreSQL accepts: a lone surrogate becomes U+FFFD. `jsonParameter({ id })` */
export const jsonParameter = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part))

/** Replaces NUL, which PostgreSQL cannot keep and refuses in any text, as a lone surrogate is replaced. `keptText('a\0')` */
export const keptText = <Text extends string | null | undefined>(text: Text): Text =>
  text?.includes('\0') ? (text.replaceAll('\0', '\ufffd') as Text) : text

/** Reads an integer of a result, which drivers return as text, number or bigint. `toInteger(row.balance)` */
export function toInteger(value: unknown): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`postgresStorage: ${String(value)} in the database is outside the range of exact numbers.`)
  return number
}

/** SQL that calls a function of the schema with parameters of these types. `callSql('signalbox', 'reserve', ['text[]'])` */
export function callSql(schema: string, name: string, types: readonly string[]): string {
  // Sent as text, so that the driver needs no array types.
  const parameters = types.map((type, index) => `$${index + 1}::text::${type}`)
  return `SELECT ${schema}.${name}(${parameters.join(', ')}) AS answer`
}
