import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { objects, stringOf } from '../json.ts'

// Arguments that come in pieces, each with the path to its place (`$.stops[0].name`). They are put together here and told
// when the call is whole.

type Place = Record<string, unknown> | unknown[]

/** A list or object that grows. Objects without a prototype, so that a property called `__proto__` is one like any other. */
export interface Growing {
  readonly root: Record<string, unknown>
  /** The text that goes on with the next piece of the same path. */
  open: string | undefined
}

export const startGrowing = (args: Json | undefined): Growing => ({
  root: Object.assign(Object.create(null), isObject(args) ? args : {}),
  open: undefined,
})

/** Deeper than any arguments, and far from where writing them out runs out of stack. */
const deepest = 100

export function grow(growing: Growing, pieces: Json | undefined): void {
  for (const piece of objects(pieces)) {
    const path = stringOf(piece.jsonPath)
    const steps = stepsOf(path)
    const last = steps.at(-1)
    if (last === undefined || steps.length > deepest) continue
    const place = steps.slice(0, -1).reduce((at: Place, step, depth) => enter(at, step, steps[depth + 1]), growing.root)
    const told = scalarOf(piece)
    const before = growing.open === path ? read(place, last) : undefined
    if (told !== undefined) write(place, last, typeof before === 'string' && typeof told === 'string' ? before + told : told)
    growing.open = piece.willContinue === true ? path : undefined
  }
}

/**
 * `$.a.b[0]['c d']` → names and numbers, as far as they can be read. Each step begins where the one before it ended: a search
 * for the next would look through the rest of the path again for every quote that is not closed.
 */
function stepsOf(path: string): readonly (string | number)[] {
  const step = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
  step.lastIndex = path.startsWith('$') ? 1 : 0
  const steps: (string | number)[] = []
  for (let found = step.exec(path); found && steps.length <= deepest; found = step.exec(path)) {
    const [, name, index, single, double] = found
    steps.push(index === undefined ? (name ?? (single ?? double ?? '').replaceAll(/\\(.)/g, '$1')) : Number(index))
  }
  return steps
}

const read = (at: Place, step: string | number): unknown => {
  if (Array.isArray(at)) return at[indexIn(at, step)]
  return Object.hasOwn(at, step) ? at[step] : undefined
}

function write(at: Place, step: string | number, value: unknown): void {
  if (Array.isArray(at)) at[indexIn(at, step)] = value
  else at[step] = value
}

/** A list grows by one at a time, whatever place is named: a hostile number must not make it huge. */
const indexIn = (list: readonly unknown[], step: string | number): number => Math.min(Number(step) || 0, list.length)

const isPlace = (value: unknown): value is Place => typeof value === 'object' && value !== null

function enter(at: Place, step: string | number, next: string | number | undefined): Place {
  const inner = read(at, step)
  if (isPlace(inner)) return inner
  const made: Place = typeof next === 'number' ? [] : Object.create(null)
  write(at, step, made)
  return made
}

const scalarOf = ({ stringValue, numberValue, boolValue, nullValue }: JsonObject): Json | undefined =>
  stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null)
