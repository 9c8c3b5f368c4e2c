import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Catalog, CatalogError } from '@signalbox/catalog'
import { catalogText, readOverrides } from '@signalbox/catalog/schema'
import { fetchSources, type SourceName, type SourceRequest, sourceNames, updateCatalog } from '@signalbox/catalog/update'
import { shownUrl } from '@signalbox/dialects/errors'
import { proxyFetch } from '@signalbox/node-http'
import { catalogFor } from './catalog.ts'
import { type Environment, settingOf } from './environment.ts'
import { StartError } from './fault.ts'
import { proxiesIn } from './outgoing.ts'

/** The environment of an update. */
export interface UpdateContext {
  readonly environment: Environment
  readonly today: string
  readonly print: (line: string) => void
}

/**
 * Runs `signalbox catalog update`: writes an updated catalog file atomically, and prints what changed.
 *
 * @throws {StartError} Says why the update is rejected. The file stays unchanged.
 */
export async function runCatalogUpdate(args: readonly string[], { environment, today, print }: UpdateContext): Promise<void> {
  const { out, corrections: correctionsFile, source } = readArguments(args)
  const current = currentCatalog(out)
  const corrections = correctionsFile === undefined ? {} : readCorrections(correctionsFile)
  const proxy = proxiesIn(environment)
  const read = await fetchSources(requestsFor(source, environment), { fetch: proxy === undefined ? fetch : proxyFetch({ proxy }) })
  if (!read.ok) throw refused(read.problems)
  const result = updateCatalog({ current, sources: read.sources, corrections, today })
  for (const line of result.warnings) print(`warning: ${line}`)
  if (!result.ok) throw refused(result.problems)
  for (const line of result.diff) print(line)
  const temporary = `${out}.${process.pid}.tmp`
  writeFileSync(temporary, `${catalogText(result.catalog)}\n`)
  renameSync(temporary, out)
  print(`${out} holds the catalog as of ${result.catalog.asOf}; ${result.diff.length} offers changed.`)
}

const refused = (problems: readonly string[]): StartError => new StartError(`The catalog is not updated. ${problems.join(' ')}`)

function readArguments(args: readonly string[]) {
  try {
    const text = { type: 'string' } as const
    const options = { out: text, corrections: text, source: { type: 'string', multiple: true } } as const
    const { values } = parseArgs({ args: [...args], options })
    if (values.out !== undefined) return { ...values, out: values.out }
  } catch (error) {
    // The message quotes an argument that is not expected, which may be the address of a source.
    const message = args.reduce((text, arg) => text.replaceAll(arg, shownUrl(arg)), (error as Error).message)
    throw new StartError(`${message} Try --help.`)
  }
  throw new StartError('`signalbox catalog update` takes --out FILE, the catalog file to update or create.')
}

/** The catalog of the file, if it exists, otherwise the built-in one. */
function currentCatalog(file: string): Catalog {
  try {
    readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return catalogFor('built-in') as Catalog
  }
  return catalogFor({ file }) as Catalog
}

function readCorrections(file: string) {
  try {
    return readOverrides(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof CatalogError || error instanceof SyntaxError)
      throw new StartError(`The corrections file ${file}: ${error.message}`)
    throw new StartError(`The corrections file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Parses `models.dev`, or `models.dev=http://mirror/api.json`. OpenAI's list needs a key. */
function requestsFor(named: readonly string[] | undefined, environment: Environment): readonly SourceRequest[] {
  const [token] = settingOf(environment, 'OPENAI_API_KEY')?.split(',') ?? []
  const usual = sourceNames.filter(name => name !== 'openai' || token !== undefined)
  return (named ?? usual).map(text => {
    const [name = '', ...rest] = text.split('=')
    if (!sourceNames.includes(name as SourceName))
      throw new StartError(`--source is ${JSON.stringify(shownUrl(name))}; it takes one of ${sourceNames.join(', ')}.`)
    const url = rest.join('=')
    return { name: name as SourceName, url: url || undefined, token: name === 'openai' ? token : undefined }
  })
}
