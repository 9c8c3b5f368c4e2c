/** The error of an invalid catalog, or of invalid overrides. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError'
  /** All problems, one sentence each. The message is the first one, and says how many follow. */
  readonly problems: readonly string[]

  constructor(problems: readonly [string, ...string[]]) {
    const [first, ...others] = problems
    super(others.length === 0 ? first : `${first} (And ${others.length} more.)`)
    this.problems = problems
  }
}

/** Throws a CatalogError if there are problems. */
export function throwIfAny(problems: readonly string[]): void {
  const [first, ...others] = problems
  if (first !== undefined) throw new CatalogError([first, ...others])
}

/** A path for messages: `` `models[0].offers[1].price` ``, `` `models["gpt-4.1"].aliases` `` */
export function formatPath(path: readonly PropertyKey[]): string {
  const steps = path.map(step => {
    if (typeof step === 'number') return `[${step}]`
    return /^[a-z_][\w-]*$/i.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(String(step))}]`
  })
  return `\`${steps.join('').replace(/^\./, '')}\``
}
