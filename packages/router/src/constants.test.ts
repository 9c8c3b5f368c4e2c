import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { tuning } from './constants.ts'
import { preferences } from './preferences.ts'

const textOf = (page: string) => readFileSync(resolve(import.meta.dirname, '../../..', page), 'utf8')

type Tuning = number | { readonly [name: string]: Tuning }

const flat = (value: Tuning, path: string): readonly (readonly [string, string])[] =>
  typeof value === 'number'
    ? [[path, String(value)]]
    : Object.entries(value).flatMap(([name, inner]) => flat(inner, `${path}${path && '.'}${name}`))

test('packages/bench/ROUTING-CONSTANTS.md has every constant with its value: run `pnpm bench constants` after a change', () => {
  const rows = [...textOf('packages/bench/ROUTING-CONSTANTS.md').matchAll(/^\| `([\w.]+)` +\| ([^ ]+) +\|/gm)].map(([, name, value]) => [
    name,
    value,
  ])
  expect(rows).toEqual(flat(tuning, ''))
})

test('docs/routing.md has the prices of every preference', () => {
  const rows = [...textOf('docs/routing.md').matchAll(/^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$/gm)]
  const prices = Object.entries(preferences).map(([name, { waiting, generation, failure }]) => [name, waiting, generation, failure])
  expect(rows.map(([, name, ...values]) => [name, ...values.map(Number)])).toEqual(prices)
})
