import { spawnSync } from 'node:child_process'
import { delimiter, join, resolve } from 'node:path'
import { styleText } from 'node:util'

// Runs a tool that looks for faults for longer than tests do: `pnpm lab` lists them, `pnpm lab bodies --minutes 5` runs one.

const root = resolve(import.meta.dirname, '../../..')
const source = (path: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  '--conditions=signalbox-source',
  '--no-warnings',
  join(root, path),
  ...args,
]

interface Tool {
  readonly what: string
  readonly options?: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const tools: Readonly<Record<string, Tool>> = {
  bodies: {
    what: 'sends mutated bodies to every route, and searches for the most expensive one within the limits',
    options: '--count --shapes --minutes --seed',
    command: source('packages/testing/tools/fuzz-bodies.ts'),
  },
  shapes: {
    what: 'only searches for the most expensive body within the limits',
    options: '--shapes --minutes --seed',
    command: source('packages/testing/tools/fuzz-bodies.ts', '--count', '0'),
  },
  streams: {
    what: 'answers the whole gateway with mutated provider responses in five dialects',
    options: '--count --only --minutes --seed',
    command: source('packages/testing/tools/fuzz-streams.ts'),
  },
  money: {
    what: 'checks balances after wrong usage, clients that disconnect, clock changes and crashes',
    options: '--runs --store --seed',
    command: source('packages/testing/tools/fuzz-money.ts'),
  },
  'storage-faults': {
    what: 'settles with a locked database, a full disk and killed processes',
    command: ['vitest', 'run', '--config', 'vitest.workspace.ts', 'packages/testing/test/storage-faults'],
    env: { SIGNALBOX_TESTS: 'long' },
  },
  uploads: {
    what: 'watches memory and `/healthz` during large and slow uploads',
    options: 'KEYS',
    command: source('packages/testing/tools/uploads/main.ts'),
  },
  soak: {
    what: 'serves mixed traffic for 15 minutes, and tells what grows and what is left over',
    options: '--quick',
    command: source('packages/bench/src/main.ts', 'soak'),
  },
  mutants: {
    what: 'plants faults in the named sources, one at a time, and lists those that no test of their packages notices',
    options: 'FILE… FILE:FROM-TO… --tests FOLDER or FILE',
    command: source('packages/testing/tools/mutants/run.ts'),
  },
  lines: {
    what: 'counts the source lines of each package',
    command: source('packages/testing/tools/lines.ts'),
  },
}

const [name, ...args] = process.argv.slice(2).filter(arg => arg !== '--')
const tool = name !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined
if (tool) {
  const [program = '', ...rest] = tool.command
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
  const env = { ...process.env, ...tool.env, PATH: path }
  const { status } = spawnSync(program, [...rest, ...args], { cwd: root, env, stdio: 'inherit' })
  process.exitCode = status ?? 1
} else {
  if (name !== undefined) console.error(`There is no tool "${name}".\n`)
  console.log('pnpm lab <name> [options]\n')
  for (const [name, { what, options = '' }] of Object.entries(tools))
    console.log(`${styleText('bold', name.padEnd(16))}${what}${options && `\n${' '.repeat(16)}${options}`}`)
  process.exitCode = name === undefined ? 0 : 2
}
