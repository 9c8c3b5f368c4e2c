import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import ts from 'typescript'

/** Whether a module only exports what other packages define. */
function isReExport(file: string): boolean {
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023)
  return statements.every(statement => ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined)
}

const nameOf = (file: string): string => basename(file, '.ts')

/**
 * The entries whose types are bundled, by name: those that do more than re-export. A bundler of types would add imports of packages that other
 * entries need to a re-export, which then could not be compiled without the optional packages of the others.
 *
 * @example
 * library({ entry, dts: { entry: bundledTypes(entry) } })
 */
export const bundledTypes = (entries: readonly string[]): Record<string, string> =>
  Object.fromEntries(entries.filter(entry => !isReExport(entry)).map(entry => [nameOf(entry), entry]))

/** Writes the types of entries that only re-export as they are in the source. Runs after tsup, which removes old types. */
export function emitReExports(entries: readonly string[], folder: string): void {
  for (const file of entries.filter(isReExport)) writeFileSync(`${folder}/${nameOf(file)}.d.ts`, readFileSync(file, 'utf8'))
}
