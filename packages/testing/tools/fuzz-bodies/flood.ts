import { seeded } from '../../src/chunkings.ts'
import { endpoints } from '../../test/inference-endpoints.ts'
import { bodies } from '../../test/matrix/samples.ts'
import { mutated } from './mutate.ts'
import { type FuzzScene, managementRows, sendForCost } from './scene.ts'
import { pick } from './shapes.ts'

// Mutated bodies over every route that takes one, one after the other, so that what each costs is known.

export interface FloodReport {
  readonly sent: number
  /** Answers by status and code. */
  readonly answers: ReadonlyMap<string, number>
  /** Bodies that led to an answer of 500 and above, a few of each. */
  readonly samples: readonly string[]
  readonly slowest: readonly { readonly cpuMs: number; readonly call: string; readonly text: string }[]
  readonly unhandled: number
  readonly errors: readonly string[]
  readonly isPrototypeClean: boolean
}

export interface FloodOptions {
  readonly count: number
  readonly seed: number
  /** Asked before each body. */
  readonly goesOn?: () => boolean
  readonly onProgress?: (sent: number) => void
}

const models = ['m', 'm-responses', 'm-chat', 'm-messages', 'm-gemini', 'm-bedrock'] as const
const maxSamples = 60

interface Target {
  readonly method: string
  readonly path: string
  readonly body: object
}

/** The samples name a provider of their own. */
const gateway = {
  routing: { timeout_ms: 1_000, deadline_ms: 5_000, allow_fallbacks: true, order: ['by-chat', 'by-gemini'] },
  metadata: { c: 'd' },
}

const targets = (workspaceId: string): readonly Target[] => [
  // Most of what is to be read stands in requests of inference.
  ...endpoints.flatMap(({ path, rich, valid }) =>
    [{ ...rich, gateway }, { ...rich, gateway }, { ...rich, gateway }, valid].map(body => ({ method: 'POST', path, body })),
  ),
  ...managementRows.map(({ method, path, body = '' }) => ({
    method,
    path: path.replace(':workspace_id', workspaceId).replace(/:[a-z_]+/, '0190a000-0000-7000-8000-00000000dead'),
    body: bodies[body] ?? {},
  })),
]

export async function flood(scene: FuzzScene, { count, seed, goesOn = () => true, onProgress }: FloodOptions): Promise<FloodReport> {
  const dice = seeded(seed)
  const answers = new Map<string, number>()
  const samples: string[] = []
  let slowest: FloodReport['slowest'] = []
  let unhandled = 0
  const hear = (): void => {
    unhandled += 1
  }
  process.on('unhandledRejection', hear)
  let sent = 0
  for (; sent < count && goesOn(); sent += 1) {
    if (sent > 0 && sent % 2_000 === 0) await scene.renew()
    if (sent > 0 && sent % 10_000 === 0) onProgress?.(sent)
    const { method, path, body } = pick(dice, targets(scene.workspaceId))
    const isInference = 'model' in body
    const text = mutated(isInference ? { ...body, model: pick(dice, models), stream: dice() < 0.3 } : body, dice)
    const answer = isInference ? sendForCost(scene, path, text) : scene.send(method, path, text)
    const { status, code, cpuMs } = await answer.catch((error: unknown) => ({ status: 599, code: String(error), cpuMs: 0 }))
    const name = `${status} ${code}`.trim()
    answers.set(name, (answers.get(name) ?? 0) + 1)
    if (status >= 500 && samples.length < maxSamples) samples.push(`${name} ${method} ${path} ${text.slice(0, 4_000)}`)
    if (slowest.length < 5 || cpuMs > (slowest.at(-1)?.cpuMs ?? 0))
      slowest = [...slowest, { cpuMs, call: `${method} ${path}`, text: text.slice(0, 2_000) }].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, 5)
  }
  await new Promise<void>(resolve => void setTimeout(resolve, 50))
  process.off('unhandledRejection', hear)
  return { sent, answers, samples, slowest, unhandled, errors: scene.errors, isPrototypeClean: isPrototypeClean() }
}

/** Nothing was ever written onto what all objects and lists inherit. */
const isPrototypeClean = (): boolean => {
  for (const _ in {}) return false
  for (const _ in []) return false
  return Object.keys(Object.prototype).length === 0 && Object.keys(Array.prototype).length === 0
}
