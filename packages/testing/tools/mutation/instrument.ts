import type { Mutant } from './find-mutants.ts'

export interface Numbered extends Mutant {
  readonly id: number
}

/** The text of a file with its mutants in it, each switched on by `__mutant(id)`. They must not overlap. */
export function instrument(text: string, mutants: readonly Numbered[]): string {
  let done = text
  for (const mutant of [...mutants].sort((one, other) => other.start - one.start)) {
    const { start, end, original } = mutant
    if (text.slice(start, end) !== original) throw new Error(`${mutant.file}:${mutant.line} has changed since its mutants were found.`)
    done = `${done.slice(0, start)}${switchFor(mutant)}${done.slice(end)}`
  }
  return done
}

function switchFor({ id, kind, original, mutated }: Numbered): string {
  const on = `globalThis.__mutant(${id})`
  // In a block of its own: an `else` after it belongs to the `if` before it.
  if (kind === 'statement') return `{ if (!${on}) { ${original} } }`
  return `${kind === 'expression' ? '' : 'void '}(${on} ? (${mutated}) : (${original}))`
}
