import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { packageNames, tools } from './sources.ts'

// What a package exports is defined where an editor shows it: in a docstring, with the errors that a call may throw.

const packages = resolve(import.meta.dirname, '../../..')

interface Definition {
  readonly name: string
  /** The name under which it is exported, if that is another one. */
  readonly exported?: string
  readonly node: ts.Node
  readonly file: ts.SourceFile
}

type Read = (path: string) => ts.SourceFile

const parse = (path: string, text: string): ts.SourceFile => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)

const packageOf = (name: string): { readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>> } =>
  JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))

/** The sources that the `exports` of a package's package.json begin with. */
function entriesOf(name: string): readonly string[] {
  const { exports = {} } = packageOf(name)
  return Object.values(exports).flatMap(({ 'signalbox-source': path }) => (path ? [join(packages, name, path)] : []))
}

const maxMainEntry = 25

/** What a file exports, where it is defined; names of other packages are theirs to describe. */
function exportsOf(path: string, read: Read): readonly Definition[] {
  const file = read(path)
  return file.statements.flatMap((statement): readonly Definition[] => {
    if (!ts.isExportDeclaration(statement)) return isExported(statement) ? declared(statement, file) : []
    const from = statement.moduleSpecifier && ts.isStringLiteral(statement.moduleSpecifier) ? statement.moduleSpecifier.text : undefined
    if (from !== undefined && !from.startsWith('.')) return []
    const source = from === undefined ? path : join(dirname(path), from)
    if (!statement.exportClause) return exportsOf(source, read)
    if (!ts.isNamedExports(statement.exportClause)) return []
    return statement.exportClause.elements.flatMap(({ name, propertyName }) =>
      definitionOf((propertyName ?? name).text, source, read).map(found => ({ ...found, exported: name.text })),
    )
  })
}

/** Where a name is defined that a file exports or imports. */
function definitionOf(name: string, path: string, read: Read): readonly Definition[] {
  const file = read(path)
  const here = file.statements.flatMap(statement => declared(statement, file)).find(found => found.name === name)
  if (here) return [here]
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    const bindings = statement.importClause?.namedBindings
    const found = bindings && ts.isNamedImports(bindings) ? bindings.elements.find(each => each.name.text === name) : undefined
    if (!found || !statement.moduleSpecifier.text.startsWith('.')) continue
    return definitionOf((found.propertyName ?? found.name).text, join(dirname(path), statement.moduleSpecifier.text), read)
  }
  return exportsOf(path, read).filter(found => found.name === name)
}

/** The names that a file exports; those of other packages too, but not through `export *`. */
const exportedNames = (path: string, read: Read): readonly string[] => [
  ...new Set(
    read(path).statements.flatMap((statement): readonly string[] => {
      if (!ts.isExportDeclaration(statement)) return isExported(statement) ? declared(statement, read(path)).map(({ name }) => name) : []
      const { exportClause: clause, moduleSpecifier: from } = statement
      if (clause && ts.isNamedExports(clause)) return clause.elements.map(({ name }) => name.text)
      if (!from || !ts.isStringLiteral(from) || !from.text.startsWith('.')) return []
      return exportedNames(join(dirname(path), from.text), read)
    }),
  ),
]

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

function declared(node: ts.Statement, file: ts.SourceFile): readonly Definition[] {
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.flatMap(each => namesIn(each.name).map(name => ({ name, node, file })))
  const isNamed =
    ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
  return isNamed && node.name ? [{ name: node.name.text, node, file }] : []
}

/** Names of a pattern, as in `export const { a, b } = c`. */
const namesIn = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name) ? [name.text] : name.elements.flatMap(each => (ts.isBindingElement(each) ? namesIn(each.name) : []))

/** The docstring of a definition; overloads and a type beside a value share one. */
const docOf = ({ name, file }: Definition): string =>
  file.statements
    .filter(statement => declared(statement, file).some(each => each.name === name))
    .flatMap(statement => ts.getLeadingCommentRanges(file.text, statement.getFullStart()) ?? [])
    .map(({ pos, end }) => file.text.slice(pos, end))
    .filter(comment => comment.startsWith('/**'))
    .join('\n')

const isFunction = ({ node, name }: Definition): boolean =>
  ts.isFunctionDeclaration(node) ||
  (ts.isVariableStatement(node) &&
    node.declarationList.declarations.some(
      each => each.name.getText() === name && each.initializer && ts.isArrowFunction(each.initializer),
    ))

function faultsOf(definition: Definition): readonly string[] {
  const doc = docOf(definition)
  const name = definition.exported ?? definition.name
  if (doc === '') return [`${name} has no docstring`]
  const throws = isFunction(definition) && /\bthrow\b/.test(definition.node.getText())
  return throws && !doc.includes('@throws') ? [`${name} throws without @throws`] : []
}

test('every name that a package exports is defined in a docstring, and a function there says what it throws', () => {
  const read: Read = path => parse(path, readFileSync(path, 'utf8'))
  const shipped = packageNames.filter(name => !tools.includes(name))
  const found = shipped.map(name => ({ name, exported: entriesOf(name).flatMap(path => exportsOf(path, read)) }))
  expect(found.flatMap(({ exported }) => exported).length).toBeGreaterThan(300)
  const faults = new Set(found.flatMap(({ name, exported }) => exported.flatMap(faultsOf).map(fault => `${name} ${fault}`)))
  expect([...faults]).toEqual([])
})

/** `signalbox`, which has types of others, has a test of its own; the others are lists: of vendors, and of the types of resources. */
const lists = ['signalbox', 'providers', 'workspaces']

test('the main entry of a package has at most 25 names, if it is no list', () => {
  const read: Read = path => parse(path, readFileSync(path, 'utf8'))
  const counts = packageNames.flatMap(name => {
    const { exports = {} } = lists.includes(name) ? {} : packageOf(name)
    const main = exports['.']?.['signalbox-source']
    if (main === undefined) return []
    const names = exportedNames(join(packages, name, main), read)
    return [{ name, count: names.length }]
  })
  expect(counts.length).toBeGreaterThan(8)
  expect(counts.filter(({ count }) => count === 0 || count > maxMainEntry)).toEqual([])
})

test('a definition is found through re-exports, and its docstring at any of its declarations', () => {
  const files: Readonly<Record<string, string>> = {
    '/index.ts':
      "import { c } from './b.ts'\nexport { a, type B as Bee } from './a.ts'\nexport * from './b.ts'\nexport { c }\nexport { z } from 'z'\n",
    '/a.ts': 'export const a = 1\n/** Bee. */\nexport type B = 1\nexport type Hidden = 1\n',
    '/b.ts': '/** C throws. */\nexport function c() {\n  throw 1\n}\n/** @throws 1 */\nexport const d = () => { throw 1 }\n',
  }
  const read: Read = path => parse(path, files[path] ?? '')
  expect(exportedNames('/index.ts', read)).toEqual(['a', 'Bee', 'c', 'd', 'z'])
  const found = exportsOf('/index.ts', read)
  expect([...new Set(found.map(({ name, exported = name }) => exported))]).toEqual(['a', 'Bee', 'c', 'd'])
  expect([...new Set(found.flatMap(faultsOf))]).toEqual(['a has no docstring', 'c throws without @throws'])
})
