import { relative } from 'node:path'
import { reasonOf } from './equivalents.ts'
import type { Drawn } from './sample.ts'
import { isCaught, type Result } from './try-mutant.ts'

interface Reported {
  readonly mutants: readonly Drawn[]
  readonly results: ReadonlyMap<number, Result>
  readonly root: string
}

/** Survivors one by one, then a line for each room of each draw. */
export function printReport({ mutants, results, root }: Reported): void {
  const done = mutants.flatMap(mutant => {
    const result = results.get(mutant.id)
    const reason = isCaught(result) ? undefined : reasonOf(mutant, root)
    return result ? [{ ...mutant, result, isCaught: isCaught(result), reason }] : []
  })
  for (const { file, line, operator, original, id, room, result, reason, isCaught } of done) {
    if (isCaught) continue
    const { ended, passed, left } = result
    const seen = ended === 'passed' ? `passed ${Object.keys(passed).length} test files, ${left} left out` : ended
    console.log(`\n${id} [${room}] ${relative(root, file)}:${line}  ${operator}  (${reason ? `equivalent: ${reason}` : seen})`)
    console.log(`    ${original.split('\n')[0]}`)
  }
  const line = (name: string, of: typeof done): string => {
    const same = of.filter(({ reason }) => reason !== undefined).length
    const caught = of.filter(({ isCaught }) => isCaught).length
    const isOpen = ({ isCaught, reason, result }: (typeof done)[number]): boolean =>
      !isCaught && reason === undefined && (result.left > 0 || result.ended === 'undecided')
    const share = ((100 * caught) / Math.max(1, of.length - same)).toFixed(1)
    const columns = [`${of.length} drawn`, `${same} equivalent`, `${caught} caught`, `${of.filter(isOpen).length} undecided`, `${share} %`]
    return `${name.padEnd(28)}${columns.map(column => column.padStart(15)).join('')}`
  }
  for (const [seed, inDraw] of Map.groupBy(done, ({ seed }) => seed)) {
    console.log(`\nseed ${seed}`)
    for (const [room, of] of Map.groupBy(inDraw, ({ room }) => room)) console.log(line(room, of))
    console.log(line('all', inDraw))
  }
}
