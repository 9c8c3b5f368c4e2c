import * as z from 'zod/v4'

// Kinds of config fields. Whatever is wrong with a field, its message says what it takes. The reference (docs/configuration.md) has the
// same descriptions, and the JSON schema of the config is generated from them.

/** Limits a field to one message. Otherwise a union would report the message of its only string member with a wrong format instead of its own. */
const abort = true

/** An object with exactly these fields. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const fields = Object.keys(shape).join(', ')
  return z.strictObject(shape, { error: issue => (issue.code === 'unrecognized_keys' ? fields : `an object of ${fields}`) })
}

export const list = <Item extends z.ZodType>(item: Item) => z.array(item, { error: 'a list' })

/** A list of at least one item, with a single message for whatever is wrong. */
export const someOf = <Item extends z.ZodType>(error: string, item: Item) => z.array(item, { error }).min(1, { error, abort })

export const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, { error: `one of ${names.join(', ')}` })

export const trueOrFalse = () => z.boolean({ error: 'true or false' })

export function whole(min: number, max = Number.MAX_SAFE_INTEGER) {
  const error = max === Number.MAX_SAFE_INTEGER ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error, abort }).max(max, { error, abort })
}

export function fraction() {
  const error = 'a number from 0 to 1'
  return z.number({ error }).min(0, { error, abort }).max(1, { error, abort })
}

/** Money is stored in integer microdollars, so an amount that would have to be rounded is rejected. */
export function amountInUsd(what: string, max: number) {
  const error = `${what} from 0 to ${max}, with at most 6 decimals`
  const isWhole = (value: number): boolean => Math.abs(value * 1e6 - Math.round(value * 1e6)) < 1e-3
  return z.number({ error }).min(0, { error, abort }).max(max, { error, abort }).refine(isWhole, { error, abort })
}

/** A string with a pattern, which editors check too, so it has no flag but `u`. */
export const textLike = (error: string, pattern: RegExp) => z.string({ error }).regex(pattern, { error, abort })

/** A string that a function checks, such as a URL. */
export const textThat = (error: string, isRight: (text: string) => boolean) => z.string({ error }).refine(isRight, { error, abort })

export const label = () => textLike('a string of 1 to 255 characters', /^[^\p{Cc}]{1,255}$/u)
export const name = () => textLike('1 to 200 visible ASCII characters without spaces', /^[\x21-\x7e]{1,200}$/)
export const secret = () => textLike('a string of visible ASCII characters without spaces', /^[\x21-\x7e]+$/)
export const fileName = () => textLike('the name of a file', /^[^\p{Cc}]{1,4096}$/u)

/** A value that becomes part of a URL. */
export const urlPart = () => textLike('1 to 128 letters, digits, `-`, `_`, `.` and `:`', /^[\w.:-]{1,128}$/)

/** A plain value, or an object whose problems are reported per field. `error` describes both. */
export const either = <Plain extends z.ZodType, Fields extends z.ZodObject>(error: string, plain: Plain, fields: Fields) =>
  z.union([plain, fields], { error })

/** The issue to report. For a value that may be plain or an object (`either`), an object gets the issue of the invalid field, and a list that of its entry. */
export function innermostIssue(issue: z.core.$ZodIssue, value: unknown): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union' || typeof value !== 'object' || value === null) return issue
  const inner = issue.errors.flat().find(each => each.path.length > 0 || each.code === 'unrecognized_keys')
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] }
}

export const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
