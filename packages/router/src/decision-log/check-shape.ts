// Checks of values that come from a file or a store, in time linear in the size of the value.

/** Throws a TypeError that names the first invalid field. */
export type Check = (value: unknown, path: string) => void

/** Makes a check from a predicate; `takes` describes the valid values. */
export const accept =
  (takes: string, isRight: (value: unknown) => boolean): Check =>
  (value, path) => {
    if (!isRight(value)) throw new TypeError(`\`${path}\` takes ${takes}.`)
  }

export const number = accept('a finite number', Number.isFinite)
export const wholeNumber = accept('a whole number, 0 or more', value => Number.isSafeInteger(value) && (value as number) >= 0)
export const text = accept('a string', value => typeof value === 'string')
export const flag = accept('a boolean', value => typeof value === 'boolean')
export const oneOfValues = (values: readonly unknown[]): Check => accept(`one of ${values.join(', ')}`, value => values.includes(value))

export const maybe =
  (inner: Check): Check =>
  (value, path) =>
    value === undefined || inner(value, path)

export const nullable =
  (inner: Check): Check =>
  (value, path) =>
    value === null || inner(value, path)

export const listOf =
  (inner: Check): Check =>
  (value, path) => {
    listOnly(value, path)
    for (const [at, each] of (value as readonly unknown[]).entries()) inner(each, `${path}[${at}]`)
  }
const listOnly = accept('a list', Array.isArray)

/** Makes a check of an object. Fields without a check are ignored. */
export const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    objectOnly(value, path)
    for (const [name, inner] of Object.entries(checks)) inner((value as Readonly<Record<string, unknown>>)[name], `${path}.${name}`)
  }
const objectOnly = accept('an object', value => typeof value === 'object' && value !== null && !Array.isArray(value))
