import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadVerbs } from './children/load.ts'
import type { UpstreamVerbs } from './children/upstream.ts'
import { type Child, start } from './ipc.ts'
import { medianOf } from './numbers.ts'
import { table } from './report.ts'
import { bodyOf, pathOf } from './requests.ts'
import type { Section } from './section.ts'

const key = 'ak_bench-admin-key'
/** Enough that each worker has many requests at once: what they write together is one transaction. */
const connections = 64
const counts = [1, 2] as const
/** What two workers are to carry of one, where each has a core. */
const target = 1.7
/** Ticks of a second in /proc. */
const ticksPerSecond = 100

interface Standalone {
  readonly port: number
  readonly child: ChildProcess
  readonly folder: string
}

interface Measured {
  readonly perSecond: number
  /** Microseconds of CPU for each request, of all processes of the server. */
  readonly cpu: number
  /** The same of the primary alone; 0 where there is none. */
  readonly primaryCpu: number
}

/** The standalone server with one worker and with two, over SQLite: in turns, since a machine is never the same twice. Linux only. */
export const workers: Section = async ({ quick }) => {
  const script = (name: string): string => join(import.meta.dirname, 'children', `${name}.ts`)
  const provider = start<UpstreamVerbs>({ script: script('upstream') })
  const load = start<LoadVerbs>({ script: script('load') })
  const upstream = `http://127.0.0.1:${await provider.ask('listen', {})}`
  const servers = await Promise.all(counts.map(count => openServer(upstream, count)))
  try {
    const results: (readonly Measured[])[] = []
    for (let round = 0; round < (quick ? 3 : 9); round++) {
      const found: Measured[] = []
      for (const server of servers) found.push(await measure(server, load, quick ? 3_000 : 10_000))
      // The first round compiles.
      if (round > 0) results.push(found)
    }
    return describe(results)
  } finally {
    for (const server of servers) await close(server)
    await Promise.all([load.stop(), provider.stop()])
  }
}

async function openServer(upstream: string, count: number): Promise<Standalone> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  const offer = { provider: 'bench', model: 'bench', api: 'chat', price: { input: 0.25, output: 2 } }
  const config = {
    port: 0,
    workers: count,
    admin_key: key,
    catalog: 'none',
    workspace: { credit_usd: 1_000_000 },
    providers: [{ id: 'bench', base_url: `${upstream}/v1`, api_key: 'sk-bench', speaks: ['chat'] }],
    models: [{ id: 'bench', offers: [offer] }],
    limits: { inference_rpm: 1_000_000_000, concurrent_requests: 100_000 },
  }
  writeFileSync(join(folder, 'signalbox.config.json'), JSON.stringify(config))
  const main = join(import.meta.dirname, '../../cli/src/main.ts')
  const child = spawn(process.execPath, ['--no-warnings', '--conditions=signalbox-source', main], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const hasStarted = (): boolean => text.includes(' listens on ') && (count === 1 || text.split('A worker listens.').length === count + 1)
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += String(chunk)
      if (!hasStarted()) return
      for (const stream of [child.stdout, child.stderr]) stream.off('data', read).resume()
      resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`The server has ended.\n${text}`)))
  })
  return { port: Number(/listens on \S+:(\d+)/.exec(text)?.[1]), child, folder }
}

async function close({ child, folder }: Standalone): Promise<void> {
  child.kill('SIGTERM')
  await new Promise(resolve => child.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}

async function measure({ port, child }: Standalone, load: Child<LoadVerbs>, requests: number): Promise<Measured> {
  const { pid = 0 } = child
  const processes = [pid, ...childrenOf(pid)]
  const before = processes.map(cpuOf)
  const asked = { dialect: 'chat', model: 'bench', stream: false } as const
  const job = { port, path: pathOf(asked), authorization: `Bearer ${key}`, body: bodyOf(asked), connections, requests }
  const { seconds } = await load.ask('run', job)
  const used = processes.map((process, at) => ((cpuOf(process) - (before[at] ?? 0)) * 1_000_000) / ticksPerSecond / requests)
  return {
    perSecond: requests / seconds,
    cpu: used.reduce((sum, each) => sum + each, 0),
    primaryCpu: processes.length > 1 ? (used[0] ?? 0) : 0,
  }
}

/** The fields of /proc/PID/stat behind the name, which may hold anything. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

const childrenOf = (pid: number): readonly number[] =>
  readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) && Number(statOf(Number(name))[1]) === pid ? [Number(name)] : []))

/** Ticks of CPU so far, all threads. */
const cpuOf = (pid: number): number => Number(statOf(pid)[11] ?? 0) + Number(statOf(pid)[12] ?? 0)

const judged = (ratio: number): string => `${ratio.toFixed(2)} ${ratio >= target ? '✓' : '✗'}`

function describe(rounds: readonly (readonly Measured[])[]): string {
  const of = (at: number, value: (measured: Measured) => number): number =>
    medianOf(rounds.flatMap(round => (round[at] ? [value(round[at])] : [])))
  const ratio = of(1, ({ perSecond }) => perSecond) / of(0, ({ perSecond }) => perSecond)
  // On as many free cores as there are workers, each carries what its CPU allows.
  const ofCpu = (2 * of(0, ({ cpu }) => cpu)) / of(1, ({ cpu, primaryCpu }) => cpu - primaryCpu)
  const rows = counts.map((count, at) => [
    String(count),
    of(at, ({ perSecond }) => perSecond).toFixed(0),
    of(at, ({ cpu }) => cpu).toFixed(0),
    of(at, ({ primaryCpu }) => primaryCpu).toFixed(0),
  ])
  return [
    `Whole answers over ${connections} connections, SQLite, the standalone server with its log. The provider and the load generator take CPU of the same machine.`,
    table(['workers', 'requests /s', 'CPU µs per request', 'of it the primary'], rows),
    `Two workers carry ${judged(ratio)} × one as measured, and ${judged(ofCpu)} × by CPU where each has a core of its own. Target: ${target}.`,
  ].join('\n\n')
}
