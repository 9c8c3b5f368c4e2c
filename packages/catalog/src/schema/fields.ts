import { wireNameOf } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'

// Whatever is wrong with a field, the message says what it takes.

/**
 * An object with exactly these fields, because a misspelt one would be silently ignored. The shape has the names of code; the JSON that is
 * read has those of files, and so have messages about it.
 */
export function section<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<z.output<z.ZodObject<Shape, z.core.$strict>>> {
  const named = Object.fromEntries(Object.entries(shape).map(([name, field]) => [wireNameOf(name), field]))
  const codeNames = new Map(Object.keys(shape).map(name => [wireNameOf(name), name]))
  const fields = Object.keys(named).join(', ')
  return z
    .strictObject(named, { error: issue => (issue.code === 'unrecognized_keys' ? fields : `an object of ${fields}`) })
    .transform(read => Object.fromEntries(Object.entries(read).map(([name, value]) => [codeNames.get(name) ?? name, value]))) as never
}

export const list = <Item extends z.ZodType>(item: Item) => z.array(item, { error: 'a list' })
/** An object keyed by name. */
export const byName = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item, { error: 'an object' })
export const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) => z.enum(names, `one of ${names.join(', ')}`)
export const flag = () => z.boolean('true or false')
export const json = () => z.record(z.string(), z.json(), 'an object')

export function whole(least: number, what = 'a whole number') {
  const error = `${what}, ${least} or more`
  return z.int(error).min(least, error)
}

const words = (what: string, pattern: RegExp) => z.string(what).regex(pattern, what)
export const label = () => words('a text of 1 to 255 characters', /^[^\p{Cc}]{1,255}$/u)
export const name = () => words('1 to 200 visible ASCII characters without spaces', /^[\x21-\x7e]{1,200}$/)
export const text = () => words('a text of 1 to 2000 characters', /^[^\p{Cc}]{1,2000}$/u)
export const address = () => z.url({ protocol: /^https?$/, error: 'an http or https address' })

const isDay = (day: string): boolean => !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day)
const date = (what: string, pattern: RegExp) => z.string(what).refine(value => pattern.test(value) && isDay(value), what)
export const day = () => date('a day as in 2026-09-30', /^\d{4}-\d\d-\d\d$/)
export const month = () => date('a month or a day, as in 2026-09 or 2026-09-30', /^\d{4}-\d\d(-\d\d)?$/)

export const timeOfDay = () => words('a time in UTC as in 01:00', /^([01]\d|2[0-3]):[0-5]\d$/)

const isMoment = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
/** A date means midnight UTC. */
export const moment = () =>
  z.string('a day or a time').refine(isMoment, 'a day as in 2027-01-01, or a time in UTC as in 2027-01-01T08:00:00Z')

/** A schema for every field of a type, and no others. */
export type Shape<Type> = { readonly [Field in keyof Type]-?: z.ZodType<Type[Field] | undefined> }
