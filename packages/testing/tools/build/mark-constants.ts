import ts from 'typescript'

/**
 * Marks what stands at the top of a module as free of side effects, so that bundlers leave out those that a program does not use. They cannot
 * tell: to them `const codes = Object.keys(table)` may do anything. Here nothing happens at import time, in any package.
 *
 * Lines stay where they are, so that the source map holds.
 *
 * @example
 * markConstants('const codes = list()') // 'const codes = /* @__PURE__ *\/ (() => ( list()))()'
 */
export function markConstants(code: string): string {
  let marked = code
  for (const { pos, end } of initialisersOf(ts.createSourceFile('chunk.js', code, ts.ScriptTarget.ES2023)).reverse())
    marked = `${marked.slice(0, pos)} /* @__PURE__ */ (() => (${marked.slice(pos, end)}))()${marked.slice(end)}`
  return marked
}

const initialisersOf = ({ statements }: ts.SourceFile): ts.Expression[] =>
  statements.flatMap(statement => {
    if (!ts.isVariableStatement(statement)) return []
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && initializer && !isPlain(initializer) ? [initializer] : [],
    )
  })

/** What bundlers know to be free of side effects. */
const isPlain = (node: ts.Expression): boolean =>
  ts.isArrowFunction(node) ||
  ts.isFunctionExpression(node) ||
  ts.isLiteralExpression(node) ||
  (ts.isPrefixUnaryExpression(node) && ts.isLiteralExpression(node.operand))
