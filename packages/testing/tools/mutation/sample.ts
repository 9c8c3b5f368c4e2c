import { seeded } from '../../src/chunkings.ts'
import type { Room } from './areas.ts'
import type { Mutant } from './find-mutants.ts'
import type { Numbered } from './instrument.ts'

export interface Drawn extends Numbered {
  readonly room: string
  readonly seed: number
}

interface Drawing {
  readonly rooms: readonly Room[]
  readonly mutants: readonly Mutant[]
  readonly count: number
  readonly seed: number
  /** Drawn before: these are not drawn again, nor is what they overlap. */
  readonly before?: readonly Drawn[]
}

/** At most one a line and none inside another; a file is drawn by the square root of what it holds, so that small ones are seen too. */
export function draw({ rooms, mutants, count, seed, before = [] }: Drawing): readonly Drawn[] {
  const random = seeded(seed)
  const roomOf = new Map(rooms.flatMap(({ name, files }) => files.map(file => [file, name] as const)))
  const left = new Map([...Map.groupBy(mutants, ({ file }) => file)].map(([file, found]) => [file, [...found]]))
  const drawn: Drawn[] = []
  while (drawn.length < count && left.size > 0) {
    const file = pick([...left], random)
    const inFile = left.get(file) ?? []
    const mutant = inFile.splice(Math.floor(random() * inFile.length), 1)[0]
    if (inFile.length === 0) left.delete(file)
    if (mutant === undefined || [...before, ...drawn].some(other => clashes(other, mutant))) continue
    drawn.push({ ...mutant, id: before.length + drawn.length, room: roomOf.get(file) ?? '', seed })
  }
  return drawn
}

const clashes = (one: Mutant, other: Mutant): boolean =>
  one.file === other.file && (one.line === other.line || (one.start < other.end && other.start < one.end))

function pick(files: readonly (readonly [string, readonly Mutant[]])[], random: () => number): string {
  const weights = files.map(([, found]) => Math.sqrt(found.length))
  let at = random() * weights.reduce((sum, weight) => sum + weight, 0)
  for (const [index, [file]] of files.entries()) {
    at -= weights[index] ?? 0
    if (at < 0) return file
  }
  return files.at(-1)?.[0] ?? ''
}
