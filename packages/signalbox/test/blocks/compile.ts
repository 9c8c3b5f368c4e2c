import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import type { CodeBlock } from './blocks.ts'
import type { Example } from './examples.ts'

const root = resolve(import.meta.dirname, '../../../..')
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

interface CodeFile {
  readonly place: string
  readonly code: string
}

/** A file of each block that is compiled, and those that they share. */
function filesOf(blocks: readonly CodeBlock[]): ReadonlyMap<string, CodeFile> {
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

const globals = join(import.meta.dirname, 'globals.d.ts')
const globalNames = [...readFileSync(globals, 'utf8').matchAll(/const (\w+):/g)].map(([, name = '']) => name)

/** The file of an example, for which the names of pages have no type unless it declares them itself. */
function fileOf({ place, code }: Example): CodeFile {
  const declares = (name: string): boolean => new RegExp(`\\b(?:const|let|function|class|import) [^=;(]*\\b${name}\\b`).test(code)
  const names = globalNames.filter(name => !declares(name)).map(name => `${name}: any`)
  return { place, code: `declare const ${names.join(', ')}; ${code}` }
}

/** A program of these files and of the sources that they import. */
function programOf(files: ReadonlyMap<string, CodeFile>): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
  // As in most apps.
  Object.assign(options, {
    allowImportingTsExtensions: true,
    allowJs: true,
    jsx: ts.JsxEmit.Preserve,
    erasableSyntaxOnly: false,
    exactOptionalPropertyTypes: false,
    rewriteRelativeImportExtensions: false,
    useUnknownInCatchVariables: false,
  })
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = path => files.has(path) || fileExists(path)
  host.directoryExists = path => path === folder || ts.sys.directoryExists(path)
  host.readFile = path => files.get(path)?.code ?? readFile(path)
  host.getSourceFile = (path, version, ...rest) => {
    const file = files.get(path)
    return file ? ts.createSourceFile(path, file.code, version) : getSourceFile(path, version, ...rest)
  }
  const cache = ts.createModuleResolutionCache(root, path => path, options)
  host.resolveModuleNameLiterals = (literals, from, ...[reference, settings]) =>
    literals.map(({ text }) => {
      const name = dirname(from) === folder && Object.hasOwn(shared, text) ? `./${shared[text]}` : text
      return ts.resolveModuleName(name, from, settings, host, cache, reference)
    })
  return ts.createProgram([...files.keys(), globals], options, host)
}

/** Diagnostics about names and files that an example takes from its surroundings, and about what it leaves unused. */
const surroundings: ReadonlySet<number> = new Set([2304, 2307, 2503, 2552, 2868, 7017, 18004, 6133, 6192, 6196, 1484, 2695, 7031, 7006])

/**
 * The compiler errors of blocks and examples: `docs/routing.md:40 +2: …`. All are in one program with the sources of the packages, whose
 * types cost more than all of them.
 */
export function compile(blocks: readonly CodeBlock[], examples: readonly Example[]): readonly string[] {
  const ofPages = filesOf(blocks)
  const files = new Map([...ofPages, ...examples.map(each => [each.file, fileOf(each)] as const)])
  const program = programOf(files)
  return [...files].flatMap(([path, { place, code }]) => {
    const source = program.getSourceFile(path)
    const found = [...program.getSyntacticDiagnostics(source), ...(path.endsWith('.js') ? [] : program.getSemanticDiagnostics(source))]
    return found
      .filter(({ code: number }) => ofPages.has(path) || !surroundings.has(number))
      .map(({ messageText, start = 0 }) => {
        const line = code.slice(0, start).split('\n').length
        return `${place} +${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
      })
  })
}
