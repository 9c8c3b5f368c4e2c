import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A source file, as the tests of the code's own rules read it. */
export interface Source {
  /** The path below `src`, with forward slashes. */
  readonly path: string
  readonly text: string
  /** The text without its comments, so that a comment may name what code may not. */
  readonly code: string
  readonly imports: readonly string[]
}

const packages = resolve(import.meta.dirname, '../../..')

export const packageNames: readonly string[] = readdirSync(packages).filter(name => existsSync(join(packages, name, 'src')))

export const sourcesOf = (name: string): readonly Source[] =>
  readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
    .map(path => readSource(name, path))

export const tools = ['testing', 'bench']

/**
 * What is shipped, with paths that begin with the package's name. The catalog's data is one table; the types of the client and the
 * schemas of databases are written by tools.
 */
export const productSources = (): readonly Source[] =>
  packageNames
    .filter(name => !tools.includes(name))
    .flatMap(name => sourcesOf(name).map(source => ({ ...source, path: `${name}/${source.path}` })))
    .filter(({ path }) => !/^(catalog\/data|client\/generated|storage-sql\/generated)\//.test(path))

function readSource(name: string, path: string): Source {
  const text = readFileSync(join(packages, name, 'src', path), 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
  const imports = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g)].map(([, specifier]) => specifier ?? '')
  return { path, text, code, imports }
}

/** Relative imports as pairs of paths below `src`; a path that starts with `..` has left the package. */
export const edgesOf = (sources: readonly Source[]): readonly { readonly from: string; readonly to: string }[] =>
  sources.flatMap(({ path, imports }) =>
    imports.filter(specifier => specifier.startsWith('.')).map(specifier => ({ from: path, to: join(dirname(path), specifier) })),
  )
