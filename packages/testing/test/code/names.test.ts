import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { productSources } from './sources.ts'

// A reader finds a file by its purpose.

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
