import ts from 'typescript'
import { expect, test } from 'vitest'
import { productSources } from './sources.ts'

// A function of the product has at most 60 lines and a file at most 300. Lines of tables do not count: they are read by looking up.

const maxFunctionLines = 60
const maxFileLines = 300

/** Functions that are still longer, and how long they may be: the list may only become shorter, and its numbers smaller. */
const longFunctions: Readonly<Record<string, number>> = {
  'core/metering/settlements.ts createSettlements': 170,
}

/** Files that are still longer. */
const longFiles: Readonly<Record<string, number>> = {}

const product = productSources()

test('no function of the product is longer than 60 lines, but those listed', () => {
  const found = product.flatMap(({ path, text }) => functionsIn(text).map(one => ({ ...one, name: `${path} ${one.name}` })))
  expect(found.length).toBeGreaterThan(3_000)
  expect(changes(found, maxFunctionLines, longFunctions)).toEqual([])
})

test('no file of the product is longer than 300 lines, but those listed', () => {
  const found = product.map(({ path, text }) => ({ name: path, lines: text.split('\n').length - 1 }))
  expect(changes(found, maxFileLines, longFiles)).toEqual([])
})

test('a function is as long as its lines without those of tables, and with those of the functions in it', () => {
  const table = `[\n${'  1,\n'.repeat(70)}]`
  const steps = '  step()\n'.repeat(70)
  expect(functionsIn(`function f() {\n  return ${table}\n}`)).toEqual([{ name: 'f', lines: 4 }])
  expect(functionsIn(`const g = () => {\n${steps}}`)).toEqual([{ name: 'g', lines: 72 }])
  expect(functionsIn(`function f() {\n  return {\n    g() {\n${steps}    },\n  }\n}`)).toEqual([
    { name: 'f', lines: 76 },
    { name: 'g', lines: 72 },
  ])
})

test('what grows, what is new, and what is listed without need are all told', () => {
  const found = [
    { name: 'short', lines: 60 },
    { name: 'listed', lines: 70 },
    { name: 'new', lines: 61 },
  ]
  expect(changes(found, 60, { listed: 70 })).toEqual(['new: 61 lines, at most 60'])
  expect(changes(found, 60, { listed: 69, new: 61, short: 80 })).toEqual([
    'listed: 70 lines, at most 69',
    'short: no longer needs its entry',
  ])
})

interface Sized {
  readonly name: string
  readonly lines: number
}

function changes(found: readonly Sized[], limit: number, listed: Readonly<Record<string, number>>): readonly string[] {
  const long = found.filter(({ lines }) => lines > limit)
  const grown = long.flatMap(({ name, lines }) => {
    const most = listed[name] ?? limit
    return lines > most ? [`${name}: ${lines} lines, at most ${most}`] : []
  })
  const needed = new Set(long.map(({ name }) => name))
  return [...grown, ...Object.keys(listed).flatMap(name => (needed.has(name) ? [] : [`${name}: no longer needs its entry`]))]
}

function functionsIn(text: string): readonly Sized[] {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number): number => file.getLineAndCharacterOfPosition(position).line
  const found: Sized[] = []

  /** Lines between the brackets of the tables in it. */
  const tableLines = (node: ts.Node): number => {
    if (isTable(node)) return Math.max(0, lineOf(node.end) - lineOf(node.getStart()) - 1)
    let lines = 0
    ts.forEachChild(node, child => {
      lines += tableLines(child)
    })
    return lines
  }
  const visit = (node: ts.Node): void => {
    if (isFunction(node)) found.push({ name: nameOf(node), lines: lineOf(node.end) - lineOf(node.getStart()) + 1 - tableLines(node.body) })
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration & { readonly body: ts.Node } =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined

/** A literal of an object or an array in which no function has statements. */
const isTable = (node: ts.Node): boolean =>
  (ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node)) && !hasStatements(node)

const hasStatements = (node: ts.Node): boolean =>
  (isFunction(node) && ts.isBlock(node.body)) || ts.forEachChild(node, child => hasStatements(child) || undefined) === true

/** Its own name, or that of the variable or property that holds it. */
function nameOf({ name, parent }: ts.FunctionLikeDeclaration): string {
  if (name !== undefined) return name.getText()
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name.getText() : '(anonymous)'
}
