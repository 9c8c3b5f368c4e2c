import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { StartError } from '../fault.ts'
import { type AppFile, ignoreFile, keyFile, manifestFile, quoted, readManifest, readText } from './app-files.ts'
import { type AppName, type AppTemplate, templates } from './templates.ts'

/** What `signalbox init` has of its surroundings. */
export interface InitContext {
  /** Folders of the command line are relative to it. */
  readonly cwd: string
  /** GATEWAY_KEY of the environment. */
  readonly key?: string | undefined
  /** What `npm install` takes for the package: `signalbox`, or tarballs. */
  readonly spec: string
  readonly print: (text: string) => void
  /** Asks for the kind of app in a terminal; undefined outside of one. */
  readonly ask: ((labels: Readonly<Record<AppName, string>>) => Promise<AppName>) | undefined
}

const names = Object.keys(templates) as readonly AppName[]
const isAppName = (name: string): name is AppName => Object.hasOwn(templates, name)

/**
 * Writes an app with a gateway in it, and prints what was written and the next command. A file that exists is kept, and named, unless
 * `--force` is given.
 *
 * @throws {StartError} The arguments do not say what to write.
 */
export async function runInit(args: readonly string[], context: InitContext): Promise<void> {
  const { folder, name, force } = await readArgs(args, context)
  const template = templates[name]
  const at = resolve(context.cwd, folder)
  const key = keyFile(at, template.keyFile, context.key)
  const files: readonly AppFile[] = [
    ...Object.entries(template.files).map(([path, text]) => ({ path, text, replaces: force })),
    { path: template.keyFile, text: key.text, replaces: true },
    ignoreFile(at, template.keyFile),
    manifestFile(at, template),
  ]
  for (const file of files) context.print(writeFile(at, file))
  context.print(`\n${nextSteps({ at, template, secret: key.secret, context })}`)
}

async function readArgs(args: readonly string[], { ask }: InitContext) {
  const { values, positionals } = parsed(args)
  const [folder = '.', extra] = positionals
  if (extra !== undefined) throw new StartError(`\`signalbox init\` takes one folder; "${extra}" is a second one.`)
  const named = values.for ?? (await ask?.(labels))
  if (named === undefined) throw new StartError(`\`signalbox init\` needs \`--for\`, one of ${names.join(', ')}.`)
  if (!isAppName(named)) throw new StartError(`\`--for\` is "${named}"; it takes ${names.join(', ')}.`)
  return { folder, name: named, force: values.force === true }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { for: { type: 'string' }, force: { type: 'boolean' } } })
  } catch (error) {
    throw new StartError(`${(error as Error).message} Try --help.`)
  }
}

const labels = Object.fromEntries(names.map(name => [name, templates[name].label])) as Record<AppName, string>

/** Writes a file unless there is another one, and says what became of it. */
function writeFile(folder: string, { path, text, replaces }: AppFile): string {
  const file = join(folder, path)
  const before = readText(file)
  if (before === text) return `unchanged: ${path}`
  if (before !== undefined && !replaces) return `kept: ${path}, which has another text. --force replaces it.`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return `${before === undefined ? 'wrote' : 'changed'}: ${path}`
}

interface Steps {
  readonly at: string
  readonly template: AppTemplate
  readonly secret: string
  readonly context: InitContext
}

/** The commands that start the app, and a request to it. */
function nextSteps({ at, template, secret, context }: Steps): string {
  const { dependencies = {}, devDependencies = {}, type } = readManifest(at)
  const isMissing = (name: string): boolean => dependencies[name] === undefined && devDependencies[name] === undefined
  const packages = [...(isMissing('signalbox') ? [context.spec] : []), ...template.packages.filter(isMissing)]
  const devPackages = template.devPackages.filter(isMissing)
  const folder = relative(context.cwd, at)
  const commands = [
    ...(folder === '' ? [] : [`cd ${quoted(folder)}`]),
    ...(type === 'module' || type === undefined ? [] : ['npm pkg set type=module']),
    ...(packages.length === 0 ? [] : [`npm install ${packages.join(' ')}`]),
    ...(devPackages.length === 0 ? [] : [`npm install --save-dev ${devPackages.join(' ')}`]),
    template.start.startsWith('node ') || template.start.startsWith('bun ') ? template.start : `npx ${template.start}`,
  ]
  return `Start it:

${commands.join('\n')}

Then ask it, in another terminal:

curl -N ${template.url}/v1/responses \\
  -H "Authorization: Bearer ${secret}" -H 'Content-Type: application/json' \\
  -d '{"model": "small", "input": "Tell me about trains.", "stream": true}'`
}
