import { expect, test } from 'vitest'
import { packageNames, productSources, type Source, sourcesOf } from './sources.ts'

// The rules of style that no linter knows: each is a pattern, the directories in which it is allowed, and the reason.

/** The packages that run a request, without what runs them. */
const engine = ['dialects', 'providers', 'core', 'workspaces', 'gateway'].flatMap(name =>
  sourcesOf(name).map(source => ({ ...source, path: `${name}/${source.path}` })),
)

/** `path:line  text` of every line that breaks a rule. */
const offences = (sources: readonly Source[], pattern: RegExp): readonly string[] =>
  sources.flatMap(({ path, code }) =>
    code.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}  ${line.trim()}`] : [])),
  )

test('time, random values and timers come from ports, so that a test can control them', () => {
  const outside = engine.filter(({ path }) => !path.startsWith('core/runtime/'))
  expect(
    offences(
      outside,
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bcrypto\.|(?<!\bclock\.)\bset(Timeout|Interval)\(|\bperformance\.now\b/,
    ),
  ).toEqual([])
})

test('no code compares a provider’s name: differences are declared in the provider’s row', () => {
  const ids = engine
    .flatMap(({ path }) => /^providers\/([\w-]+)\.ts$/.exec(path)?.[1] ?? [])
    .filter(id => !['index', 'define-provider', 'compatible'].includes(id))
  const outside = [...engine, ...sourcesOf('api')].filter(({ path }) => !path.startsWith('providers/'))
  expect(ids.length === 0 ? [] : offences(outside, new RegExp(`'(${ids.join('|')})'`))).toEqual([])
})

test.each(packageNames)('%s never uses `any`', name => {
  expect(offences(sourcesOf(name), /(:|\bas|<|,|\|)\s*any\b\s*([,;)>=|[\]]|$)/)).toEqual([])
})

const comments = (text: string): readonly string[] => text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? []

/** Lines of comments that speak of a thing as of a person, or describe something absent. */
const personLines = (text: string): readonly string[] =>
  comments(text)
    .flatMap(comment => comment.split('\n'))
    .filter(line => /\b(who|whoever|whom|nobody|somebody|anybody|everybody|told)\b|\bnothing where\b/i.test(line))

test('comments describe things: `it`, never who, nobody, somebody or told', () => {
  const lines = productSources().flatMap(({ path, text }) => personLines(text).map(line => `${path}: ${line.trim()}`))
  expect(lines).toEqual([])
})

test('a comment is found at the end of a line and over several lines, and a URL is none', () => {
  const text = "const a = 'https://who.example' // Whoever asks.\n/**\n * Nobody.\n * The name, or nothing where\n * none is told. */\n"
  expect(personLines(text)).toHaveLength(4)
})

// Such a function is allocated in the old generation of V8, and keeps all that it refers to alive until a full collection: a request
// of 90 kB outlived every collection of the young one for the sake of one of them (docs/life-of-a-request.md, "Objects of a request").
test.each(packageNames)('%s assigns no function literal to a property of an object that exists already', name => {
  const assigned =
    /^\s*(?!(?:export )?(?:const|let|readonly)\b)[\w.()[\]?!]+\.\w+ (\?\?|\|\|)?= (async )?(function\b|\([^)]*\)(: [^=]+)? =>|\w+ =>)/
  const once = ['transport/skip-interim.ts', 'children/peer.ts'] // By connection and by process, not by request.
  const sources = sourcesOf(name).filter(({ path }) => !once.includes(path))
  expect(offences(sources, assigned)).toEqual([])
})
