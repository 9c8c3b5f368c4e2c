import ts from 'typescript'
import { expect, test } from 'vitest'
import { productSources } from './sources.ts'

// A function does one thing that can be named and is as long as that takes; a file is one subject. Beyond these sizes that is doubtful. Lines
// of tables do not count, since they are only looked up.

const maxFunctionLines = 100
const maxFileLines = 500

const product = productSources()

test('no function of the product is longer than 100 lines', () => {
  const found = product.flatMap(({ path, text }) => functionsIn(text).map(one => ({ ...one, name: `${path} ${one.name}` })))
  expect(tooLong(found, maxFunctionLines)).toEqual([])
})

test('no file of the product is longer than 500 lines', () => {
  const found = product.map(({ path, text }) => ({ name: path, lines: text.split('\n').length - 1 }))
  expect(tooLong(found, maxFileLines)).toEqual([])
})

test('the length of a function excludes lines of tables, and includes those of nested functions', () => {
  const table = `[\n${'  1,\n'.repeat(70)}]`
  const steps = '  step()\n'.repeat(70)
  expect(functionsIn(`function f() {\n  return ${table}\n}`)).toEqual([{ name: 'f', lines: 4 }])
  expect(functionsIn(`const g = () => {\n${steps}}`)).toEqual([{ name: 'g', lines: 72 }])
  expect(functionsIn(`function f() {\n  return {\n    g() {\n${steps}    },\n  }\n}`)).toEqual([
    { name: 'f', lines: 76 },
    { name: 'g', lines: 72 },
  ])
})

interface Sized {
  readonly name: string
  readonly lines: number
}

const tooLong = (found: readonly Sized[], limit: number): readonly string[] =>
  found.filter(({ lines }) => lines > limit).map(({ name, lines }) => `${name}: ${lines} lines, at most ${limit}`)

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
