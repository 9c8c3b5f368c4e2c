import { seeded } from '../../src/chunkings.ts'
import { type FuzzScene, sendForCost } from './scene.ts'
import { type Genes, genesOf, pick, type ShapedBody, shapes, turned } from './shapes.ts'

// A search for the body within the caps that costs most: for each shape the genes that cost most are turned on.

interface Dearest {
  readonly path: string
  readonly name: string
  readonly model: string
  readonly genes: Genes
  readonly cpuMs: number
  readonly status: number
  readonly bytes: number
}

export interface ClimbReport {
  readonly sent: number
  /** The dearest body of each shape, the dearest first. */
  readonly dearest: readonly Dearest[]
  /** Answers that no body may lead to. */
  readonly failures: readonly string[]
}

export interface ClimbOptions {
  readonly rounds: number
  readonly seed: number
  /** The size of the first body of a shape, of that which the limits allow. Default: 1. */
  readonly size?: number
  /** Asked before each round. */
  readonly goesOn?: () => boolean
}

const models = ['m-responses', 'm-chat', 'm-messages', 'm-gemini', 'm-bedrock'] as const

export async function climb(scene: FuzzScene, { rounds, seed, size = 1, goesOn = () => true }: ClimbOptions): Promise<ClimbReport> {
  const dice = seeded(seed)
  const best = new Map<ShapedBody, Dearest>()
  const failures: string[] = []
  let sent = 0
  for (let round = 0; round < rounds && goesOn(); round += 1) {
    const shape = round < shapes.length ? (shapes[round] as ShapedBody) : pick(dice, shapes)
    const before = best.get(shape)
    const genes = before && dice() < 0.8 ? turned(before.genes, dice) : { ...genesOf(dice), size: size * (0.9 + dice() * 0.1) }
    const model = before && dice() < 0.7 ? before.model : pick(dice, models)
    const text = JSON.stringify({ ...shape.make(genes), model })
    const { status, code, cpuMs } = await sendForCost(scene, shape.path, text)
    sent += 1
    if (status >= 500) failures.push(`${status} ${code} ${shape.path} ${shape.name} ${JSON.stringify(genes)}`)
    if (!before || cpuMs > before.cpuMs)
      best.set(shape, { path: shape.path, name: shape.name, model, genes, cpuMs, status, bytes: text.length })
    if (sent % 500 === 0) await scene.renew()
  }
  return { sent, dearest: [...best.values()].sort((a, b) => b.cpuMs - a.cpuMs), failures }
}
