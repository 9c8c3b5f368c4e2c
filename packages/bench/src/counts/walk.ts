import { join } from 'node:path'
import type { SocketVerbs } from '../children/counted-sockets.ts'
import { type Child, start } from '../ipc.ts'
import type { FunctionCalls } from './coverage.ts'
import { openLockStep } from './lock-step.ts'
import { type Traffic, trafficOf } from './traffic.ts'

/** The part of a request between two writes of the provider or the client, and what ran in it. */
export interface Step {
  readonly name: string
  readonly calls: FunctionCalls
}

/** What runs for one request over sockets, step by step. The streamed one has one delta after its first content. */
export interface Walk {
  readonly whole: readonly Step[]
  readonly streamed: readonly Step[]
}

/** How many files and functions run, and how often functions are called. */
interface Extent {
  readonly files: number
  readonly functions: number
  readonly calls: number
}

const script = join(import.meta.dirname, '../children/counted-sockets.ts')

/** Runs a few requests after the caches are filled, and keeps what ran in each of them; the rest is unrelated work. */
export async function measureWalk(): Promise<Walk> {
  const child = start<SocketVerbs>({ script })
  const lockStep = await openLockStep()
  try {
    const traffic = trafficOf({ lockStep, dialect: 'responses', ...(await child.ask('listen', { upstream: lockStep.upstream })) })
    for (let at = 0; at < 5; at += 1) {
      await traffic.whole()
      await traffic.stream(3)
    }
    await child.ask('startCoverage', {})
    const walks: Walk[] = []
    for (let at = 0; at < 3; at += 1) walks.push({ whole: await walkWhole(child, traffic), streamed: await walkStream(child, traffic) })
    return { whole: commonTo(walks.map(({ whole }) => whole)), streamed: commonTo(walks.map(({ streamed }) => streamed)) }
  } finally {
    lockStep.close()
    await child.stop()
  }
}

async function walkWhole(child: Child<SocketVerbs>, traffic: Traffic): Promise<readonly Step[]> {
  await child.ask('takeCoverage', {})
  const exchange = await traffic.ask()
  const request = await child.ask('takeCoverage', {})
  await exchange.answer()
  return [
    { name: 'request', calls: request },
    { name: 'answer', calls: await child.ask('takeCoverage', {}) },
  ]
}

async function walkStream(child: Child<SocketVerbs>, traffic: Traffic): Promise<readonly Step[]> {
  await child.ask('takeCoverage', {})
  const stream = await traffic.askStream()
  const request = await child.ask('takeCoverage', {})
  await stream.begin()
  const first = await child.ask('takeCoverage', {})
  await stream.deltas(1)
  const delta = await child.ask('takeCoverage', {})
  await stream.end()
  return [
    { name: 'request', calls: request },
    { name: 'first content', calls: first },
    { name: 'delta', calls: delta },
    { name: 'end', calls: await child.ask('takeCoverage', {}) },
  ]
}

const commonTo = (walks: readonly (readonly Step[])[]): readonly Step[] =>
  (walks[0] ?? []).map(({ name }, index) => ({ name, calls: leastOf(walks.map(walk => walk[index]?.calls ?? {})) }))

function leastOf([first = {}, ...others]: readonly FunctionCalls[]): FunctionCalls {
  const least = Object.entries(first).map(([name, calls]) => [name, Math.min(calls, ...others.map(other => other[name] ?? 0))] as const)
  return Object.fromEntries(least.filter(([, calls]) => calls > 0))
}

export const fileOf = (name: string): string => name.slice(0, name.indexOf(':'))

function extentOf(steps: readonly Step[]): Extent {
  const functions = new Set(steps.flatMap(({ calls }) => Object.keys(calls)))
  return {
    files: new Set([...functions].map(fileOf)).size,
    functions: functions.size,
    calls: steps.reduce((sum, { calls }) => sum + Object.values(calls).reduce((total, count) => total + count, 0), 0),
  }
}

/** The figures that have ceilings. */
export function walkFigures({ whole, streamed }: Walk): Readonly<Record<string, number>> {
  const delta = streamed.filter(({ name }) => name === 'delta')
  return Object.fromEntries(
    Object.entries({ whole, streamed, delta }).flatMap(([name, steps]) =>
      Object.entries(extentOf(steps)).map(([unit, count]) => [`${name}: ${unit}`, count]),
    ),
  )
}
