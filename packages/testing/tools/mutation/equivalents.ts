import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equivalents } from './equivalents-list.ts'
import type { Mutant } from './find-mutants.ts'

/** A mutant that changes nothing which can be observed: no test can catch it. */
export interface Equivalent {
  /** From the root of the repository. */
  readonly file: string
  /** The line of the source, without the space around it. */
  readonly line: string
  readonly operator: string
  readonly original: string
  readonly reason: string
}

/** Why the mutant changes nothing; absent: it does. */
export function reasonOf(mutant: Mutant, root: string, text = readFileSync(mutant.file, 'utf8')): string | undefined {
  const line = text.split('\n')[mutant.line - 1]?.trim()
  const { operator, original } = mutant
  return equivalents.find(
    each => join(root, each.file) === mutant.file && each.line === line && each.operator === operator && each.original === original,
  )?.reason
}
