import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readConfig } from './config.ts'
import { StartError } from './fault.ts'
import { watchLauncher } from './launcher.ts'
import { stopOnSignals } from './signals.ts'
import { isWorker } from './workers/messages.ts'
import { hasPrimary } from './workers/worker-count.ts'

const help = `Signalbox: an LLM gateway.

Usage: signalbox [--config FILE] [--workers N]
       signalbox init [FOLDER] --for node|next|hono|bun|workers [--force]
       signalbox migrate [--config FILE] [--print [--dialect NAME]] [--schema NAME]
       signalbox catalog update --out FILE [--corrections FILE] [--source NAME[=URL]]…

  --config FILE   a JSON file; default: SIGNALBOX_CONFIG, else signalbox.config.json here, else the defaults
  --workers N     processes that share the port, "auto" for one per core; default: SIGNALBOX_WORKERS, else the config, else 1
  --help          this text
  --version       the version

init writes an app with a gateway in it: its files, a package.json if there is none, and a new key in .env. It keeps a file that
exists, unless --force is given, and prints the command that starts the app.

migrate brings the database of the config to the newest schema, which a start does too. With --print it changes nothing and prints
the SQL, for a database that others migrate.

catalog update writes a catalog file (catalog.file of the config) from public lists of models and prices: that file brought up
to date, or the built-in catalog if there is none. A running server takes it within seconds. Corrections (overrides) win.
Sources: models.dev, genai-prices, openrouter, and openai with OPENAI_API_KEY.

Variables: PORT, HOST, SIGNALBOX_STORAGE (memory:, sqlite:FILE, postgres://…), SIGNALBOX_WORKERS,
SIGNALBOX_ADMIN_KEY, SIGNALBOX_SEALING_KEY, and keys of providers such as OPENAI_API_KEY or GROQ_API_KEY: a provider with a key is on.

With several workers, SIGHUP reads the config again and replaces the workers one by one.

The first start shows an admin key once. Lost it? SIGNALBOX_ADMIN_KEY=ak_… sets one of your own.`

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }

const commands: ReadonlyMap<string, (args: readonly string[]) => Promise<void>> = new Map([
  ['catalog', catalogCommand],
  ['init', initCommand],
  ['migrate', migrateCommand],
])

// A reader that closes its end of the pipe must not crash the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

try {
  const [command = '', ...args] = process.argv.slice(2)
  const run = args.includes('--help') ? undefined : commands.get(command)
  if (isWorker(process.env)) await workerCommand()
  else if (run) await run(args)
  else await serverCommand()
} catch (error) {
  exitWithError(error)
}

async function workerCommand(): Promise<void> {
  const { runWorker } = await import('./workers/worker.ts')
  runWorker({ environment: process.env, version, sink: process.stderr })
}

async function catalogCommand([action, ...args]: readonly string[]): Promise<void> {
  if (action !== 'update') throw new StartError('`signalbox catalog` takes `update`. Try --help.')
  const { runCatalogUpdate } = await import('./catalog-update.ts')
  const today = new Date().toISOString().slice(0, 10)
  await runCatalogUpdate(args, { environment: process.env, today, print: line => console.log(line) })
}

async function initCommand(args: readonly string[]): Promise<void> {
  const { runInit } = await import('./init/init.ts')
  const { chooseApp, packageSpec } = await import('./init/surroundings.ts')
  const ask = process.stdin.isTTY && process.stdout.isTTY ? chooseApp : undefined
  const { GATEWAY_KEY: key } = process.env
  await runInit(args, { cwd: process.cwd(), key, spec: packageSpec(import.meta.dirname), print: line => console.log(line), ask })
}

async function migrateCommand(args: readonly string[]): Promise<void> {
  const { runMigrate } = await import('./migrate.ts')
  await runMigrate(args, { environment: process.env, print: text => console.log(text.trimEnd()) })
}

async function serverCommand(): Promise<void> {
  const { values } = options()
  if (values.help) console.log(help)
  else if (values.version) console.log(version)
  else await run(values)
}

function options() {
  try {
    return parseArgs({
      allowPositionals: commands.has(process.argv[2] ?? ''),
      options: { config: { type: 'string' }, workers: { type: 'string' }, help: { type: 'boolean' }, version: { type: 'boolean' } },
    })
  } catch (error) {
    throw new StartError(`${(error as Error).message} Try --help.`)
  }
}

async function run({ config: file, workers }: { readonly config?: string; readonly workers?: string }): Promise<void> {
  const read = () => readConfig(process.env, { file, flags: { workers } })
  const context = { environment: process.env, version, sink: process.stderr }
  const config = read()
  if (hasPrimary(config)) {
    const { runPrimary } = await import('./workers/primary.ts')
    watchLauncher(process.env, () => process.kill(process.pid, 'SIGTERM'))
    await runPrimary({ config, readConfig: read, sink: process.stderr, print: console.log, onError: exitWithError })
    return
  }
  // Loaded late, so that a config error is reported without waiting for it.
  const { start } = await import('./server.ts')
  const server = await start(config, context)
  console.log(server.announcement)
  const graceMs = config.timeouts.shutdown_ms
  const stop = stopOnSignals({ stop: () => server.stop({ graceMs }), graceMs, onError: exitWithError })
  watchLauncher(process.env, stop)
}

/** A StartError is printed as one line; any other error is a bug and is printed with its stack. */
function exitWithError(error: unknown): void {
  const known = error instanceof StartError
  console.error(known ? `signalbox: ${error.message.replace(/\s*\n\s*/g, ' ')}` : error)
  process.exit(1)
}
