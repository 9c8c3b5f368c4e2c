import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { sqlVariants } from './find-sql-mutants.ts'

/** A small fault to plant: `original` at `start` of `file` becomes `mutated`. */
export interface Mutant {
  readonly file: string
  readonly start: number
  readonly end: number
  /** 1-based. */
  readonly line: number
  readonly operator: string
  readonly original: string
  readonly mutated: string
  /** A statement is skipped as a whole; an expression has two values, which a statement of its own does not use. */
  readonly kind: 'expression' | 'statement expression' | 'statement'
  /** Outside of all functions: it runs as its file is loaded, which the test files of a worker share. */
  readonly atLoad: boolean
}

type Found = Pick<Mutant, 'operator' | 'mutated'> & { readonly at?: number }

const comparisons: ReadonlyMap<string, string> = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['===', '!=='],
  ['!==', '==='],
])
const swapped: ReadonlyMap<string, string> = new Map([
  ['&&', '||'],
  ['||', '&&'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['+=', '-='],
  ['-=', '+='],
])
const functions: ReadonlyMap<string, string> = new Map([
  ['Math.min', 'Math.max'],
  ['Math.max', 'Math.min'],
  ['Math.round', 'Math.floor'],
  ['Math.ceil', 'Math.floor'],
  ['Math.floor', 'Math.ceil'],
])

/** Every mutant of the files, in the order of their text. Types decide where `+` adds numbers. */
export function findMutants(files: readonly string[], options: ts.CompilerOptions): readonly Mutant[] {
  const program = ts.createProgram([...files], options)
  const checker = program.getTypeChecker()
  return files.flatMap(file => {
    const source = program.getSourceFile(file)
    return source === undefined ? [] : mutantsOf(source, checker)
  })
}

function mutantsOf(source: ts.SourceFile, checker: ts.TypeChecker): readonly Mutant[] {
  const text = readFileSync(source.fileName, 'utf8')
  const found: Mutant[] = []
  const add = (node: ts.Node, kind: Mutant['kind'], { operator, mutated, at = 0 }: Found): void => {
    const start = node.getStart(source)
    const end = node.getEnd()
    const line = source.getLineAndCharacterOfPosition(start + at).line + 1
    found.push({
      file: source.fileName,
      start,
      end,
      line,
      operator,
      original: text.slice(start, end),
      mutated,
      kind,
      atLoad: isAtLoad(node),
    })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return
    if (isRemovable(node)) add(node, 'statement', { operator: 'remove statement', mutated: '' })
    const kind = kindOf(node, source)
    if (kind !== undefined && !isWritten(node as ts.Expression))
      for (const each of variantsOf(node as ts.Expression, checker)) add(node, kind, each)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function isAtLoad(node: ts.Node): boolean {
  for (let around = node.parent; around; around = around.parent) if (ts.isFunctionLike(around)) return false
  return true
}

/** A call, an assignment or a throw that stands for itself. */
const isRemovable = (node: ts.Node): boolean =>
  ts.isThrowStatement(node) ||
  (ts.isExpressionStatement(node) && (ts.isCallExpression(node.expression) || ts.isBinaryExpression(node.expression)))

/** Absent: no expression, or one that begins a statement that goes on after it, where brackets would join it to the line before. */
function kindOf(node: ts.Node, source: ts.SourceFile): 'expression' | 'statement expression' | undefined {
  if (!ts.isExpression(node)) return undefined
  if (ts.isExpressionStatement(node.parent)) return 'statement expression'
  let around: ts.Node = node.parent
  while (ts.isExpression(around) && around.getStart(source) === node.getStart(source)) around = around.parent
  return ts.isExpressionStatement(around) && around.getStart(source) === node.getStart(source) ? undefined : 'expression'
}

/** The left side of an assignment, an object's key, a word of the syntax: no place for another expression. */
function isWritten(node: ts.Expression): boolean {
  const { parent } = node
  if (ts.isBinaryExpression(parent) && parent.left === node && parent.operatorToken.getText().endsWith('=')) {
    return !comparisons.has(parent.operatorToken.getText())
  }
  if (ts.isPropertyAssignment(parent) && parent.name === node) return true
  return ts.isPrefixUnaryExpression(parent) && ts.isNumericLiteral(node) && parent.operator === ts.SyntaxKind.MinusToken
}

function variantsOf(node: ts.Expression, checker: ts.TypeChecker): readonly Found[] {
  if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node) || ts.isStringLiteral(node))
    return sqlVariants(node.getText())
  if (ts.isBinaryExpression(node)) return binary(node, checker)
  if (ts.isNumericLiteral(node)) return [{ operator: 'n + 1', mutated: `(${node.getText()} + 1)` }]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [{ operator: 'true to false', mutated: 'false' }]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [{ operator: 'false to true', mutated: 'true' }]
  if (ts.isAwaitExpression(node) && ts.isExpressionStatement(node.parent))
    return [{ operator: 'drop await', mutated: `void ${node.expression.getText()}` }]
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [{ operator: 'drop not', mutated: `!!(${node.operand.getText()})` }]
  if (ts.isCallExpression(node)) {
    const other = functions.get(node.expression.getText())
    if (other !== undefined) return [{ operator: `${node.expression.getText()} to ${other}`, mutated: `${other}${afterCallee(node)}` }]
  }
  if (ts.isConditionalExpression(node))
    return conditions(node.condition, rest => `(${rest}) ? ${node.whenTrue.getText()} : ${node.whenFalse.getText()}`)
  return []
}

const afterCallee = (node: ts.CallExpression): string => node.getText().slice(node.expression.getText().length)

const conditions = (condition: ts.Expression, put: (condition: string) => string): readonly Found[] => [
  { operator: 'negate condition', mutated: put(`!(${condition.getText()})`) },
]

function binary(node: ts.BinaryExpression, checker: ts.TypeChecker): readonly Found[] {
  const token = node.operatorToken.getText()
  const [left, right] = [node.left.getText(), node.right.getText()]
  const found: Found[] = []
  const flipped = comparisons.get(token) ?? swapped.get(token)
  if (flipped !== undefined) found.push({ operator: `${token} to ${flipped}`, mutated: `${left} ${flipped} ${right}` })
  if (token === '??') found.push({ operator: 'drop ?? default', mutated: left })
  if (token === '+' && isNumber(node.left, checker) && isNumber(node.right, checker))
    found.push({ operator: '+ to -', mutated: `${left} - ${right}` })
  if (comparisons.has(token) && isCondition(node)) {
    found.push({ operator: 'condition to true', mutated: 'true' }, { operator: 'condition to false', mutated: 'false' })
  }
  return found
}

const isNumber = (node: ts.Expression, checker: ts.TypeChecker): boolean =>
  (checker.getTypeAtLocation(node).flags & ts.TypeFlags.NumberLike) !== 0

const isCondition = (node: ts.Expression): boolean =>
  (ts.isIfStatement(node.parent) || ts.isConditionalExpression(node.parent) || ts.isWhileStatement(node.parent)) &&
  ('expression' in node.parent ? node.parent.expression === node : node.parent.condition === node)
