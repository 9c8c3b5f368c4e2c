import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'

// The names that the packages export, and the names in their types, read from the sources without the compiler's checker.

const packages = resolve(import.meta.dirname, '../..')

/** Where a name is defined: in a source of these packages, or in a module of others. */
export interface Definition {
  readonly name: string
  /** A source file, or the name of a module of others. */
  readonly file: string
  /** Declarations that share the name: overloads, or a type and a value. None in modules of others. */
  readonly nodes: readonly ts.Node[]
}

interface Manifest {
  readonly exports?: Readonly<Record<string, { readonly 'signalbox-source': string } | string>>
}

function memoize<Result>(compute: (path: string) => Result): (path: string) => Result {
  const results = new Map<string, Result>()
  return path => {
    if (!results.has(path)) results.set(path, compute(path))
    return results.get(path) as Result
  }
}

const parse = memoize(path => ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true))

/** The source that an import names; the name itself if it is a module of others. */
function sourceOf(specifier: string, from: string): string {
  if (specifier.startsWith('.')) return join(dirname(from), specifier)
  const [, folder, path] = /^@signalbox\/([\w-]+)(\/.*)?$/.exec(specifier) ?? []
  return (folder !== undefined && entriesOf(folder).get(`.${path ?? ''}`)) || specifier
}

/** The sources of a package's entries, by sub-path: `.`, `./providers`. */
export const entriesOf = memoize((folder): ReadonlyMap<string, string> => {
  const { exports = {} }: Manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'))
  const entries = Object.entries(exports)
  return new Map(
    entries.flatMap(([path, entry]) => (typeof entry === 'string' ? [] : [[path, join(packages, folder, entry['signalbox-source'])]])),
  )
})

const isOwn = (file: string): boolean => file.startsWith(packages)

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

function declaredNames(node: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  const isNamed =
    ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
  return isNamed && node.name ? [node.name.text] : []
}

/** The names that a source exports, with their definitions. */
export const exportsOf = memoize((path): ReadonlyMap<string, Definition> => {
  const found = new Map<string, Definition>()
  for (const statement of parse(path).statements) {
    if (isExported(statement)) for (const name of declaredNames(statement)) found.set(name, definitionOf(name, path) as Definition)
    if (!ts.isExportDeclaration(statement)) continue
    const { exportClause: clause, moduleSpecifier: from } = statement
    const source = from && ts.isStringLiteral(from) ? sourceOf(from.text, path) : path
    if (!clause) for (const [name, definition] of exportsOf(source)) found.set(name, definition)
    else if (ts.isNamedExports(clause))
      for (const { name, propertyName = name } of clause.elements)
        found.set(
          name.text,
          (source === path ? definitionOf(propertyName.text, path) : exportedBy(source, propertyName.text)) as Definition,
        )
  }
  return found
})

const exportedBy = (source: string, name: string): Definition | undefined =>
  isOwn(source) ? exportsOf(source).get(name) : { name, file: source, nodes: [] }

const definitionsIn = memoize((_: string) => new Map<string, Definition | undefined>())

/** Where a name of a source is defined: there, or in what it imports. Undefined for names of the language and of the platform. */
function definitionOf(name: string, path: string): Definition | undefined {
  const known = definitionsIn(path)
  if (!known.has(name)) known.set(name, findDefinition(name, path))
  return known.get(name)
}

function findDefinition(name: string, path: string): Definition | undefined {
  const nodes = parse(path).statements.filter(statement => declaredNames(statement).includes(name))
  if (nodes.length > 0) return { name, file: path, nodes }
  for (const statement of parse(path).statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    const source = sourceOf(statement.moduleSpecifier.text, path)
    const { name: whole, namedBindings } = statement.importClause ?? {}
    if (whole?.text === name) return { name, file: source, nodes: [] }
    if (!namedBindings || !ts.isNamedImports(namedBindings)) continue
    const binding = namedBindings.elements.find(each => each.name.text === name)
    if (binding) return exportedBy(source, (binding.propertyName ?? binding.name).text)
  }
  return undefined
}

/** Whether a definition is a value, and not only a type. */
export const isValue = ({ nodes }: Definition): boolean =>
  nodes.some(node => ts.isVariableStatement(node) || ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node))

/** The identifiers in the type of a declaration: bodies of functions and names of properties are left out. */
function namesInType(node: ts.Node, add: (name: string) => void): void {
  if (ts.isIdentifier(node)) add(node.text)
  if (ts.isBlock(node) || (ts.isClassElement(node) && node.name && ts.isPrivateIdentifier(node.name))) return
  const isNamed =
    ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isPropertyAssignment(node) || ts.isPropertyAccessExpression(node)
  const named = isNamed ? node.name : undefined
  const inferred = (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && node.type ? node.initializer : undefined
  const body = ts.isArrowFunction(node) && node.type ? node.body : undefined
  ts.forEachChild(node, child => {
    if (child !== named && child !== inferred && child !== body) namesInType(child, add)
  })
}

/** What the types of definitions are made of, with themselves: also types that are not exported. */
export function closureOf(definitions: Iterable<Definition>): readonly Definition[] {
  const found = new Map<string, Definition>()
  const visit = (definition: Definition): void => {
    const key = `${definition.file} ${definition.name}`
    if (found.has(key)) return
    found.set(key, definition)
    const names = new Set<string>()
    for (const node of definition.nodes) namesInType(node, name => names.add(name))
    for (const name of names) {
      const inner = definitionOf(name, definition.file)
      if (inner) visit(inner)
    }
  }
  for (const definition of definitions) visit(definition)
  return [...found.values()]
}
