import { beforeAll, describe, expect, inject, test } from 'vitest'
import { climb } from '../tools/fuzz-bodies/climb.ts'
import { flood } from '../tools/fuzz-bodies/flood.ts'
import { type FuzzScene, fuzzScene } from '../tools/fuzz-bodies/scene.ts'
import { shapes } from '../tools/fuzz-bodies/shapes.ts'

// A small share of what `pnpm lab bodies` sends.

const mutations = inject('isLongRun') ? 1_500 : 150

let scene: FuzzScene

beforeAll(async () => {
  scene = await fuzzScene()
})

describe('the most expensive bodies within the limits', () => {
  test('are answered or refused in bounded time in every dialect and shape, never with an internal error', {
    timeout: 120_000,
  }, async () => {
    const share = inject('isLongRun') ? { rounds: 2 * shapes.length } : { rounds: shapes.length, size: 0.4 }
    const { dearest, failures } = await climb(scene, { ...share, seed: 7 })
    expect(failures).toEqual([])
    expect(dearest).toHaveLength(shapes.length)
    // About 0.25 s on a slow core.
    expect(dearest.filter(({ cpuMs }) => cpuMs > 5_000)).toEqual([])
  })
})

test('mutated bodies cause no internal error, unhandled rejection or changed prototype, on any route', {
  timeout: 120_000,
}, async () => {
  const { sent, answers, samples, unhandled, errors, isPrototypeClean, slowest } = await flood(scene, { count: mutations, seed: 11 })
  expect({ sent, samples, unhandled, errors, isPrototypeClean }).toEqual({
    sent: mutations,
    samples: [],
    unhandled: 0,
    errors: [],
    isPrototypeClean: true,
  })
  expect(answers.get('200')).toBeGreaterThan(mutations / 30)
  expect(slowest[0]?.cpuMs).toBeLessThan(1_000)
})
