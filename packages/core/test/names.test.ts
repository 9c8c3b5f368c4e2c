import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { productSources, type Source } from './sources.ts'

// One word, one meaning: a reader finds the one definition of a name, and the file by its purpose.

const product = productSources()

/** Words that name no file: metaphors, and participles without a subject. */
const bannedFileNames: ReadonlySet<string> = new Set(
  `answering ask asking book booking books branch carry dice drains fits flight flight-text flights growing guard hearing hearsay testbed
  journey judge judge-offer layout lessons limits-told line loss marks mint narrow nobody-left note onwards others pace passage post
  reading receipt register remarks remembered see sift sorting spelling standouts tally tell telling terms told unread unsayable
  verbatim walk watch wish writing yield`
    .trim()
    .split(/\s+/),
)

/** Last words of types that are nouns of this field, not verbs that a parameter object is named for. */
const nouns: ReadonlySet<string> = new Set(
  'Billing Binding Caching Encoding Ending Mapping Pricing Reasoning Ring Routing Setting Spending String Thinking Timing Warning'.split(
    ' ',
  ),
)

const definition = /^(?:export )?(?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm

/** Names that stand at the top of a file, each once. */
const definitionsIn = ({ text }: Pick<Source, 'text'>): readonly string[] => [
  ...new Set([...text.matchAll(definition)].map(([, name]) => name ?? '')),
]

/** Files of the same name in sibling folders, as in `dialects/chat/wire.ts`, count as one place. */
const placeOf = (path: string): string => `${dirname(dirname(path))}/*/${basename(path)}`

/** The number of places in which a name is defined, from three on. */
function definedOften(sources: readonly Pick<Source, 'path' | 'text'>[]): ReadonlyMap<string, number> {
  const places = new Map<string, Set<string>>()
  for (const source of sources) {
    for (const name of definitionsIn(source)) places.set(name, (places.get(name) ?? new Set()).add(placeOf(source.path)))
  }
  return new Map([...places].filter(([, found]) => found.size >= 3).map(([name, found]) => [name, found.size]))
}

test('a name is defined at the top of two files at most', () => {
  expect([...definedOften(product)]).toEqual([])
})

test('a definition is found in any form, and files of the same name in sibling folders count as one', () => {
  const text = 'export async function a() {}\nconst b = 1\nexport interface C {}\ntype D = 1\n  const inner = 1\nfunction a(): void {}\n'
  expect(definitionsIn({ text })).toEqual(['a', 'b', 'C', 'D'])
  const at = (path: string) => ({ path, text: 'const one = 1' })
  expect(definedOften([at('core/x/a.ts'), at('core/y/a.ts'), at('core/z/a.ts')]).size).toBe(0)
  expect(definedOften([at('core/x/a.ts'), at('core/x/b.ts'), at('core/y/c.ts')])).toEqual(new Map([['one', 3]]))
})

test('files are named for their purpose', () => {
  const names = product.map(({ path }) => basename(path, '.ts'))
  expect(names.filter(name => bannedFileNames.has(name))).toEqual([])
})

test('a largest number is called max', () => {
  const files = product.flatMap(({ code }) => [...new Set(code.match(/\bmost(?!Reliable|Recent|Informative)[A-Z]\w*/g) ?? [])])
  expect(files).toEqual([])
})

test('types of parameters are named for their content, not for a verb', () => {
  const types = product.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?(?:interface|type) (\w+ing)\b/gm)].map(([, name]) => name ?? ''),
  )
  const verbs = types.filter(name => !nouns.has(/[A-Z][a-z]+$/.exec(name)?.[0] ?? ''))
  expect(verbs).toEqual([])
})
