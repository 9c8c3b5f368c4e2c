// The matchers that the conformance suite uses, as vitest defines them, without anything of Node.

/** Stands for every value that it accepts. */
class Satisfying {
  readonly accepts: (value: unknown) => boolean
  constructor(accepts: (value: unknown) => boolean) {
    this.accepts = accepts
  }
}

type Mode = 'loose' | 'strict' | 'partial'

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** `loose` takes a missing field for one of undefined; `partial` lets objects have more fields than expected. */
function equals(found: unknown, expected: unknown, mode: Mode): boolean {
  if (expected instanceof Satisfying) return expected.accepts(found)
  if (Object.is(found, expected)) return true
  if (!isObject(found) || !isObject(expected) || Array.isArray(found) !== Array.isArray(expected)) return false
  if (expected instanceof Set) return found instanceof Set && found.size === expected.size && [...expected].every(one => found.has(one))
  if (Array.isArray(found) && found.length !== (expected as readonly unknown[]).length) return false
  const [ours, theirs] = [fieldsOf(found, mode), fieldsOf(expected, mode)]
  if (mode !== 'partial' && ours.size !== theirs.size) return false
  return [...theirs].every(([name, value]) => ours.has(name) && equals(ours.get(name), value, mode))
}

const fieldsOf = (value: object, mode: Mode): Map<string, unknown> =>
  new Map(Object.entries(value).filter(([, field]) => mode === 'strict' || field !== undefined))

function show(value: unknown): string {
  const text = value instanceof Error ? String(value) : JSON.stringify(value)
  return (text ?? String(value)).slice(0, 2_000)
}

function matches(error: unknown, expected: unknown): boolean {
  const message = error instanceof Error ? error.message : String(error)
  if (expected === undefined) return true
  if (expected instanceof RegExp) return expected.test(message)
  return typeof expected === 'string'
    ? message.includes(expected)
    : error instanceof Error && error.name === (expected as ErrorConstructor).name
}

type Check = (found: never, ...expected: never[]) => boolean

const checks: Readonly<Record<string, Check>> = {
  toBe: (found: unknown, expected: unknown) => Object.is(found, expected),
  toEqual: (found: unknown, expected: unknown) => equals(found, expected, 'loose'),
  toStrictEqual: (found: unknown, expected: unknown) => equals(found, expected, 'strict'),
  toMatchObject: (found: unknown, expected: unknown) => equals(found, expected, 'partial'),
  toHaveLength: (found: { readonly length: number }, expected: number) => found.length === expected,
  toBeUndefined: (found: unknown) => found === undefined,
  toBeDefined: (found: unknown) => found !== undefined,
  toContain: (found: readonly unknown[] | string, expected: unknown) => (found as readonly unknown[]).includes(expected),
  toBeGreaterThan: (found: number, expected: number) => found > expected,
  toBeGreaterThanOrEqual: (found: number, expected: number) => found >= expected,
  toBeLessThan: (found: number, expected: number) => found < expected,
  toBeLessThanOrEqual: (found: number, expected: number) => found <= expected,
}

function expectations(found: unknown): object {
  const entries = Object.entries(checks).map(([name, check]) => [
    name,
    (...expected: never[]): void => {
      if (!check(found as never, ...expected)) throw new Error(`${name}: found ${show(found)}, expected ${show(expected[0])}`)
    },
  ])
  const rejects = {
    async toThrow(expected?: unknown): Promise<void> {
      const error = await (found as Promise<unknown>).then(
        () => undefined,
        reason => reason ?? new Error('rejected with nothing'),
      )
      if (error === undefined || !matches(error, expected))
        throw new Error(`rejects.toThrow: found ${show(error)}, expected ${show(expected)}`)
    },
  }
  return { ...Object.fromEntries(entries), rejects }
}

/** As vitest's. `expect(found).toEqual(expected)` */
export const expect = Object.assign(expectations, {
  toSatisfy: (accepts: (value: unknown) => boolean) => new Satisfying(accepts),
})
