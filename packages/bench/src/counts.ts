import { byteCeilings, countCeilings } from './counts/ceilings.ts'
import type { ByOrigin } from './counts/instruments.ts'
import { measureBytes, measureCounts } from './counts/measure.ts'
import { table } from './report.ts'
import type { Section } from './section.ts'

/** What a request creates and calls, as numbers that do not depend on other work on the machine. */
export const counts: Section = async () => {
  const { figures, origins } = await measureCounts()
  const rows = Object.entries({ ...figures, ...(await measureBytes()) }).map(([name, figure]) => {
    const ceiling = countCeilings[name] ?? byteCeilings[name]
    return [name, String(figure), `${ceiling ?? ''} ${figure <= (ceiling ?? 0) ? '✓' : '✗'}`]
  })
  return [
    'Of one request. In process: the API as a function, and a provider that answers without a socket; promises, timers and bytes of the client and the provider are left out. Bytes are those of the heap. A delta is a hundredth of what 150 deltas cost more than 50.',
    table(['figure', 'now', 'ceiling'], rows),
    'The promises of a whole answer, and of a delta, by the file that makes them:',
    table(['file', 'whole', 'delta'], byFile(origins)),
  ].join('\n\n')
}

const byFile = ({ whole, deltas }: { readonly whole: ByOrigin; readonly deltas: ByOrigin }): readonly (readonly string[])[] =>
  [...new Set([...Object.keys(whole), ...Object.keys(deltas)])].map(file => [
    file,
    String(whole[file] ?? 0),
    String((deltas[file] ?? 0) / 100),
  ])
