import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '../../../..')

/** An `@example` of a docstring, as a program beside its file. */
export interface Example {
  /** `packages/gateway/src/options.ts:55` */
  readonly place: string
  readonly file: string
  readonly code: string
}

/** The examples of the sources of all packages. */
export const docExamples = (): readonly Example[] =>
  globSync('packages/*/src/**/*.ts', { cwd: root })
    .filter(file => !/\.test\.ts$|\/generated\/|^packages\/(?:bench|testing)\//.test(file))
    .sort()
    .flatMap(file => examplesIn(join(root, file)))

function examplesIn(file: string): readonly Example[] {
  const text = readFileSync(file, 'utf8')
  if (!text.includes('@example')) return []
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const names = [...new Set(source.statements.flatMap(exportedNames))]
  const found: Example[] = []
  const visit = (node: ts.Node): void => {
    for (const tag of ts.getJSDocTags(node)) {
      if (tag.parent.parent !== node || tag.tagName.text !== 'example') continue
      const place = `${relative(root, file)}:${source.getLineAndCharacterOfPosition(tag.pos).line + 1}`
      const program = programOf(ts.getTextOfJSDocComment(tag.comment) ?? '', node)
      const imported = names.filter(name => !program.includes(`import { ${name} }`) && !program.includes(`export { ${name} }`))
      const code = `import { ${imported.join(', ')} } from './${basename(file)}'\n${program}\nexport {}\n`
      found.push({ place, file: join(dirname(file), `example-${found.length}-of-${basename(file)}`), code })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function exportedNames(statement: ts.Statement): readonly string[] {
  const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  if (!isExported) return []
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText())
  if (ts.isFunctionDeclaration(statement)) return statement.name ? [statement.name.text] : []
  return ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) ? [`type ${statement.name.text}`] : []
}

/** An example of an option is a value of its type; one of a type is a value of it; any other is statements. */
function programOf(text: string, node: ts.Node): string {
  const isValue = text.startsWith('{')
  if (ts.isInterfaceDeclaration(node) && isValue) return `export const example: ${node.name.text} = ${text}`
  if (!ts.isPropertySignature(node) || !ts.isInterfaceDeclaration(node.parent)) return text
  const type = `NonNullable<${node.parent.name.text}['${node.name.getText()}']>`
  if (isValue) return `export const example: ${type} = ${text}`
  return /^async \w+\(/.test(text) ? `export const example: Pick<${node.parent.name.text}, '${node.name.getText()}'> = { ${text} }` : text
}
