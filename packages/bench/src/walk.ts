import { walkCeilings } from './counts/ceilings.ts'
import type { Figures } from './counts/measure.ts'
import { fileOf, measureWalk, type Step, walkFigures } from './counts/walk.ts'
import { table } from './report.ts'
import type { Section } from './section.ts'

/** Which files run for a request, at which step, and how many functions and calls that takes. */
export const walk: Section = async () => {
  const found = await measureWalk()
  return [
    'Counted by V8 for one request over sockets, sources of `packages/` only. The streamed request has two deltas: that of its first content, and the one of the step `delta`.',
    table(['', 'now', 'ceiling'], summary(walkFigures(found))),
    'The files of a streamed request, by step and directory; alphabetically within each step.',
    ['| step | directory | functions | calls | files |', '|---|---|--:|--:|---|', ...found.streamed.flatMap(rowsOf)].join('\n'),
  ].join('\n\n')
}

const summary = (figures: Figures): readonly (readonly string[])[] =>
  Object.entries(figures).map(([name, figure]) => {
    const ceiling = walkCeilings[name]
    return [name, String(figure), `${ceiling ?? ''} ${figure <= (ceiling ?? 0) ? '✓' : '✗'}`]
  })

/** Without padding: the names of the files of one row would make all of them wide. */
function rowsOf(step: Step): readonly string[] {
  const directories = Map.groupBy(Object.entries(step.calls), ([name]) => fileOf(name).replace(/\/[^/]+$/, ''))
  return [...directories]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([directory, functions]) => {
      const calls = functions.reduce((sum, [, count]) => sum + count, 0)
      const files = new Set(functions.map(([name]) => fileOf(name).replace(/^.*\/|\.ts$/g, '')))
      return `| ${[step.name, directory, functions.length, calls, [...files].sort().join(', ')].join(' | ')} |`
    })
}
