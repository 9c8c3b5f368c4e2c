import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { pageFiles } from '../../../../docs/.vitepress/pages.ts'

// The blocks of code of all pages. The text after the language tag says what cannot be done with a block, and why:
// `ts no-run: it opens a port` is compiled, `ts fragment: a row of a table` is only read, and `ts example: next-app/gateway.ts` is that file of
// examples/, whose own test runs it.

const root = resolve(import.meta.dirname, '../../../..')

/** A block of TypeScript on a page. */
export interface CodeBlock {
  /** `docs/routing.md:40` */
  readonly place: string
  readonly page: string
  /** The file that its first line names: `server.ts`. */
  readonly file: string | undefined
  readonly language: 'ts' | 'tsx' | 'js'
  /** `run`: it runs here. `no-run`: it is compiled. `fragment`: it is no program. `file`, `example`: a test of its own runs it. */
  readonly use: 'run' | 'no-run' | 'fragment' | 'file' | 'example'
  readonly reason: string
  readonly code: string
}

const fence = /^( *)```(tsx?|js)(?: (no-run|fragment|example): (.+))?\n([\s\S]*?)^\1```$/gm

function blocksOn(page: string): readonly CodeBlock[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(fence)].map(({ index, 1: indent = '', 2: language, 3: use, 4: reason = '', 5: code = '' }) => {
    const file = /^\/\/ (\S+\.tsx?)\b/.exec(code)?.[1]
    return {
      place: `${page}:${text.slice(0, index).split('\n').length}`,
      page,
      file,
      language: language as CodeBlock['language'],
      use: (use as CodeBlock['use']) ?? (file === undefined ? 'run' : 'file'),
      reason,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }
  })
}

/** The README of each package, which npm shows. */
const packagePages = (): readonly string[] =>
  readdirSync(join(root, 'packages')).flatMap(name =>
    existsSync(join(root, 'packages', name, 'README.md')) ? [`packages/${name}/README.md`] : [],
  )

/** Every page that has blocks. */
export const blockPages = (): readonly string[] => [...pageFiles(), ...packagePages()]

export const codeBlocks = (): readonly CodeBlock[] => blockPages().flatMap(blocksOn)

/** Languages of fences, to see that no block of code is written as another language. */
export const fencesOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^ *```(\S+)/gm)].map(([, language = '']) => language)

/** Beside the tests of the package, so that its own name and the frameworks are found. */
const folder = join(import.meta.dirname, 'pages')

/** Files that pages import and other blocks, or the reader's own app, have. */
const shared: Readonly<Record<string, string>> = {
  './gateway.ts': 'gateway.ts',
  '@/gateway': 'gateway.ts',
  '@/user': 'user.ts',
  './app.module.ts': 'app.module.ts',
  '../src/index.ts': 'storage.ts',
}

/** A file of each block that is compiled, and those that they share. */
function sourcesOf(blocks: readonly CodeBlock[]): ReadonlyMap<string, { readonly place: string; readonly code: string }> {
  const own = blocks
    .filter(({ use }) => use !== 'fragment' && use !== 'example')
    .map(({ place, language, code }, at) => [join(folder, `block-${at}.${language}`), { place, code: `${code}\nexport {}\n` }] as const)
  const codeOf = (page: string, file?: string): string =>
    blocks.find(block => block.page === page && block.file !== undefined && (file === undefined || block.file === file))?.code ?? ''
  return new Map([
    ...own,
    [join(folder, 'gateway.ts'), { place: 'docs/getting-started/node.md', code: codeOf('docs/getting-started/node.md', 'gateway.ts') }],
    [join(folder, 'user.ts'), { place: 'docs/getting-started/next.md', code: codeOf('docs/getting-started/next.md', 'user.ts') }],
    [join(folder, 'storage.ts'), { place: 'docs/how-to/add-a-storage.md', code: codeOf('docs/how-to/add-a-storage.md') }],
    [join(folder, 'app.module.ts'), { place: 'Nest', code: 'export class AppModule {}\n' }],
  ])
}

/** The compiler errors of the blocks, all in one program with the sources of the packages: `docs/routing.md:40 +2: …`. */
export function compileBlocks(blocks: readonly CodeBlock[]): readonly string[] {
  const sources = sourcesOf(blocks)
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
  Object.assign(options, {
    allowImportingTsExtensions: true,
    allowJs: true,
    jsx: ts.JsxEmit.Preserve,
    erasableSyntaxOnly: false,
    exactOptionalPropertyTypes: false,
    rewriteRelativeImportExtensions: false,
  })
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = path => sources.has(path) || fileExists(path)
  host.directoryExists = path => path === folder || ts.sys.directoryExists(path)
  host.readFile = path => sources.get(path)?.code ?? readFile(path)
  host.getSourceFile = (path, version, ...rest) => {
    const source = sources.get(path)
    return source ? ts.createSourceFile(path, source.code, version) : getSourceFile(path, version, ...rest)
  }
  const cache = ts.createModuleResolutionCache(root, path => path, options)
  host.resolveModuleNameLiterals = (literals, from, ...[reference, settings]) =>
    literals.map(({ text }) => {
      const name = dirname(from) === folder && Object.hasOwn(shared, text) ? `./${shared[text]}` : text
      return ts.resolveModuleName(name, from, settings, host, cache, reference)
    })
  const program = ts.createProgram([...sources.keys(), join(import.meta.dirname, 'globals.d.ts')], options, host)
  return [...sources].flatMap(([path, { place, code }]) => {
    const file = program.getSourceFile(path)
    const found = [...program.getSyntacticDiagnostics(file), ...(path.endsWith('.js') ? [] : program.getSemanticDiagnostics(file))]
    return found.map(({ messageText, start = 0 }) => {
      const line = code.slice(0, start).split('\n').length
      return `${place} +${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
  })
}
