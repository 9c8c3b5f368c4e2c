import { objects, stringOf } from '../common/json.ts'
import { isObject, type Json } from '../protocol/wire.ts'

// Assembles arguments that arrive in pieces, each with a path (`$.stops[0].name`) to the value that it sets.

type Container = Record<string, unknown> | unknown[]

/** Far below the depth at which serializing the arguments overflows the stack. */
const maxDepth = 100

/** The arguments of a call, complete or in pieces. */
export class PartialArguments {
  /** It and all inner objects have no prototype, so that a property called `__proto__` is an ordinary one. */
  readonly #root: Record<string, unknown> = Object.create(null)
  /** Arguments that are text already, because they are too deep for JSON (`parseBounded`). Pieces are not added to them. */
  readonly #text: string
  /** The path of a text that the next piece continues. */
  #openPath: string | undefined = undefined

  constructor(args: Json | undefined) {
    if (isObject(args)) Object.assign(this.#root, args)
    this.#text = stringOf(args)
  }

  add(pieces: Json | undefined): void {
    for (const piece of objects(pieces)) {
      const path = stringOf(piece.jsonPath)
      const steps = parsePath(path)
      const last = steps.at(-1)
      if (last === undefined || steps.length > maxDepth) continue
      const container = steps.slice(0, -1).reduce((at: Container, step, depth) => enterContainer(at, step, steps[depth + 1]), this.#root)
      const { stringValue, numberValue, boolValue, nullValue } = piece
      const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null)
      const before = this.#openPath === path ? readStep(container, last) : undefined
      if (value !== undefined) writeStep(container, last, typeof before === 'string' && typeof value === 'string' ? before + value : value)
      this.#openPath = piece.willContinue === true ? path : undefined
    }
  }

  /** Undefined if they are nested too deeply to serialize. */
  toJson(): string | undefined {
    if (this.#text !== '') return this.#text
    try {
      return JSON.stringify(this.#root)
    } catch {
      return undefined
    }
  }
}

/**
 * Parses `$.a.b[0]['c d']` into names and indexes, up to the first malformed step. The pattern is sticky, so that each step starts where
 * the previous one ended: a search would rescan the rest of the path for every unclosed quote.
 */
function parsePath(path: string): readonly (string | number)[] {
  const step = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
  step.lastIndex = path.startsWith('$') ? 1 : 0
  const steps: (string | number)[] = []
  for (let found = step.exec(path); found && steps.length <= maxDepth; found = step.exec(path)) {
    const [, name, index, single, double] = found
    steps.push(index === undefined ? (name ?? (single ?? double ?? '').replaceAll(/\\(.)/g, '$1')) : Number(index))
  }
  return steps
}

const readStep = (at: Container, step: string | number): unknown => {
  if (Array.isArray(at)) return at[indexIn(at, step)]
  return Object.hasOwn(at, step) ? at[step] : undefined
}

function writeStep(at: Container, step: string | number, value: unknown): void {
  if (Array.isArray(at)) at[indexIn(at, step)] = value
  else at[step] = value
}

/** At most one past the end, so that a hostile index cannot make the list huge. */
const indexIn = (list: readonly unknown[], step: string | number): number => Math.min(Number(step) || 0, list.length)

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

/** The container at this step, created if missing. */
function enterContainer(at: Container, step: string | number, next: string | number | undefined): Container {
  const inner = readStep(at, step)
  if (isContainer(inner)) return inner
  const created: Container = typeof next === 'number' ? [] : Object.create(null)
  writeStep(at, step, created)
  return created
}
