// Providers restrict names: of tools, properties, calls and documents. Those that do not fit are sent under others, which must differ from
// each other and from every name that is sent as it is: a client can choose the name that another one would be sent as.

/** Gives out names that differ from each other and from those that are taken. */
export class FreeNames {
  readonly #taken: Set<string>
  /** First form → the attempt that comes next: many names may have the same first form. */
  readonly #nextAttempts = new Map<string, number>()

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken)
  }

  /** Takes the first form that is free: `form(0)`, else `form(1)` and so on. Forms of different attempts must differ. */
  take(form: (attempt: number) => string): string {
    const first = form(0)
    let attempt = this.#nextAttempts.get(first) ?? 0
    let name = attempt === 0 ? first : form(attempt)
    while (this.#taken.has(name)) {
      attempt += 1
      name = form(attempt)
    }
    this.#nextAttempts.set(first, attempt + 1)
    this.#taken.add(name)
    return name
  }
}

/** A set of names as a provider accepts them. */
export interface FittedNames {
  /** The name as sent. A name that is not of the set is unchanged. */
  readonly sent: (name: string) => string
  /** Names as sent → names, for those that differ. */
  readonly changed: ReadonlyMap<string, string>
}

const unchanged: FittedNames = { sent: name => name, changed: new Map() }

/**
 * Fits a set of names, one to one. Names that fit stay as they are, the others are changed in order; so a name that joins the set later
 * changes no other, unless it is what another one was sent as. `fit`: the name itself if it fits, otherwise the form for this attempt.
 * `reserved`: names that are sent as they are.
 *
 * @example fittedNames(['a b', 'a_b'], (name, attempt) => name.replaceAll(' ', '_') + '_'.repeat(attempt)).sent('a b') // 'a_b_'
 */
export function fittedNames(
  names: Iterable<string>,
  fit: (name: string, attempt: number) => string,
  reserved: readonly string[] = [],
): FittedNames {
  const fitting: string[] = [...reserved]
  const others: string[] = []
  for (const name of names) (fit(name, 0) === name ? fitting : others).push(name)
  if (others.length === 0) return unchanged
  const free = new FreeNames(fitting)
  const sent = new TextMap<string>()
  const changed = new Map<string, string>()
  for (const name of others) {
    if (sent.get(name) !== undefined) continue
    const form = free.take(attempt => fit(name, attempt))
    sent.set(name, form)
    changed.set(form, name)
  }
  return { sent: name => sent.get(name) ?? name, changed }
}

/** V8 does not hash texts longer than 16,383 characters, so a map compares each of them with all others. */
const maxHashed = 16_000

/** A map by texts of any length. Long ones are looked up by their pieces. */
export class TextMap<Value> {
  readonly #short = new Map<string, Value>()
  readonly #long = new Map<string, Value>()
  readonly #pieces = new Map<string, number>()

  get(text: string): Value | undefined {
    return text.length <= maxHashed ? this.#short.get(text) : this.#long.get(this.#keyOf(text))
  }

  set(text: string, value: Value): void {
    if (text.length <= maxHashed) this.#short.set(text, value)
    else this.#long.set(this.#keyOf(text), value)
  }

  /** The numbers of its pieces. */
  #keyOf(text: string): string {
    const numbers: number[] = []
    for (let start = 0; start < text.length; start += maxHashed) {
      const piece = text.slice(start, start + maxHashed)
      const number = this.#pieces.get(piece) ?? this.#pieces.size
      this.#pieces.set(piece, number)
      numbers.push(number)
    }
    return numbers.join(' ')
  }
}
