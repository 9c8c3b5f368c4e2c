import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { providerDialects } from '@signalbox/dialects'
import { type Model, type Offer, withWireNames } from '@signalbox/dialects/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import { catalog } from '../src/index.ts'
import { checked } from '../tools/findings.ts'

const dialects = Object.keys(providerDialects)
const offer: Offer = { provider: 'p', model: 'x', api: 'chat', price: { input: 2, output: 2 } }
const own = { as_of: '2026-09-30', models: [], providers: [{ id: 'p', display_name: 'P', data_policy: 'zdr' }] }
const selling = (change: Partial<Model>): object => ({ ...own, models: [withWireNames({ id: 'm', offers: [offer], ...change })] })
const terms = { today: '2026-10-15', dialects }
const warningsOf = (json: unknown): readonly string[] => checked(json, terms).warnings

describe('a check of a catalog', () => {
  test('reports nothing for a valid catalog', () => {
    expect(checked(selling({}), terms)).toEqual({
      summary: '1 models, 1 offers, 1 providers, as of 2026-09-30',
      errors: [],
      warnings: [],
    })
  })

  test('reports facts older than 30 days', () => {
    expect(checked(selling({}), { dialects, today: '2026-10-30' }).warnings).toEqual([])
    expect(checked(selling({}), { dialects, today: '2026-10-31' }).warnings).toEqual([
      'it is of 2026-09-30, 31 days ago; update it, since prices change sooner',
    ])
  })

  test.each<readonly [string, unknown, string]>([
    ['an offer that has ended', selling({ retiresAt: '2026-10-14' }), 'm at p has ended, on 2026-10-14'],
    ['an offer that ends within 30 days', selling({ retiresAt: '2026-11-14' }), 'm at p ends on 2026-11-14'],
    [
      'an offer that ends before its model',
      selling({ retiresAt: '2027-01-01', offers: [{ ...offer, retiresAt: '2026-10-20' }] }),
      'm at p ends on 2026-10-20',
    ],
    ['a successor that is not there', selling({ successor: 'n' }), 'the successor of m is "n", which is no model of this catalog'],
    [
      'a host without a price of cached input that the maker has',
      selling({
        author: 'p',
        offers: [
          { ...offer, price: { input: 2, output: 2, cached: 1 } },
          { ...offer, model: 'y' },
        ],
      }),
      'cached input of m at p is charged as input, since no price of it is known; its maker sells it for less',
    ],
    [
      'a price that nobody knows',
      selling({ offers: [{ provider: 'p', model: 'x', api: 'chat' }] }),
      'no price is known for m at p: it is not planned',
    ],
    [
      'a cache that costs more than none',
      selling({ offers: [{ ...offer, price: { input: 2, output: 2, tiers: [{ over: 1, input: 1, output: 2, cached: 2 }] } }] }),
      'what is read from a cache costs more than input for m at p',
    ],
    [
      'a seller of whom nothing is known',
      selling({
        offers: [
          { ...offer, provider: 'q' },
          { ...offer, provider: 'q', api: 'gemini' },
        ],
      }),
      'nothing is known of "q", which has 2 offers',
    ],
    [
      'a dialect that nobody speaks',
      selling({ offers: [{ ...offer, api: 'latin' }] }),
      'nobody here speaks "latin", which 1 offers are asked in; it is one of responses, chat, messages, gemini, bedrock',
    ],
    ['a model that nobody sells', selling({ offers: [] }), 'nobody sells m'],
  ])('reports %s', (_what, json, warning) => {
    expect(warningsOf(json)).toEqual([warning])
  })

  test('reports nothing that is in the future', () => {
    expect(warningsOf(selling({ retiresAt: '2026-11-15' }))).toEqual([])
  })

  test('reports a name clash and an invalid catalog as errors', () => {
    const twice = {
      ...own,
      models: [
        { id: 'm', offers: [] },
        { id: 'n', aliases: ['m'], offers: [] },
      ],
    }
    expect(checked(twice, terms).errors).toEqual([expect.stringContaining('`models[1].aliases[0]` is "m"')])
    expect(checked({ ...own, models: 3 }, terms).errors).toEqual(['`models` is 3; it takes a list.'])
  })
})

test('the built-in catalog has no errors and only known warnings', () => {
  const { errors, warnings } = checked(withWireNames(catalog()), { dialects, today: catalog().asOf })
  expect(errors).toEqual([])
  const kinds = [/ends on \d{4}/, /has ended, on/, /^cached input of .* is charged as input/, /^no price is known for/]
  expect(warnings.filter(warning => !kinds.some(kind => kind.test(warning)))).toEqual([])
  expect(warnings.filter(warning => kinds[3]?.test(warning))).toEqual([
    'no price is known for gemma-4-31b-it at google: it is not planned',
    'no price is known for gemma-4-26b-a4b-it at google: it is not planned',
    'no price is known for grok-4.6 at azure: it is not planned',
  ])
})

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const tool = resolve(import.meta.dirname, '../tools/check.ts')

  function run(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
    return new Promise(done => {
      execFile(process.execPath, ['--conditions=signalbox-source', tool, ...args], (error, out, err) =>
        done({ code: Number(error?.code ?? 0), out, err }),
      )
    })
  }
  const fileOf = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }

  test('succeeds with warnings', async () => {
    const { code, out, err } = await run()
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^warning: no price is known for grok-4.6 at azure/m)
    expect(out).toMatch(/^built-in catalog: \d+ models, \d+ offers, 27 providers, as of 2026-09-30; 0 errors, \d+ warnings$/m)
  })

  test.each([
    [
      'a catalog with a clash',
      JSON.stringify({
        ...own,
        models: [
          { id: 'm', offers: [] },
          { id: 'm', offers: [] },
        ],
      }),
      'error: `models[1].id`',
    ],
    ['what is no JSON', '{', 'error: '],
  ])('exits with 1 for %s', async (_what, text, line) => {
    const { code, err } = await run(fileOf('own.json', text))
    expect([code, err]).toEqual([1, expect.stringContaining(line)])
  })

  test('exits with 1 for a missing file', async () => {
    expect((await run(join(folder, 'none.json'))).code).toBe(1)
  })
})
