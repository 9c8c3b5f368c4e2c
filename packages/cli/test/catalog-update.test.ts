import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { catalog } from '@signalbox/catalog'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { waitUntil } from '../../testing/test/waits.ts'
import { ageNotices } from '../src/catalog.ts'
import { runCatalogUpdate } from '../src/catalog-update.ts'
import { watchCatalog } from '../src/watch-catalog.ts'
import { newFolder } from './launch.ts'

/** A server that answers every request with this JSON. */
async function serverOf(json: unknown): Promise<string> {
  const server = createServer((_, response) => response.end(JSON.stringify(json)))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const model = {
  id: 'tencent/hy4',
  name: 'Hy4',
  architecture: { input_modalities: ['text'], output_modalities: ['text'] },
  pricing: { prompt: '0.00000125', completion: '0.00001' },
}

/** What the catalog has of the provider, and one more: a list without sold models would be refused. */
const listOf = (more: object): { readonly data: readonly object[] } => ({
  data: [
    ...catalog()
      .models.flatMap(({ offers }) => offers.filter(({ provider }) => provider === 'openrouter'))
      .map(({ model: id, price }) => ({
        ...model,
        id,
        pricing: { prompt: String((price?.input ?? 0) / 1e12), completion: String((price?.output ?? 0) / 1e12) },
      })),
    more,
  ],
})

async function run(args: readonly string[]): Promise<string> {
  const lines: string[] = []
  await runCatalogUpdate(args, { environment: {}, today: '2026-11-22', print: line => lines.push(line) })
  return lines.join('\n')
}

describe('signalbox catalog update', () => {
  test('writes the built-in catalog with the changes, then updates that file', async () => {
    const out = join(newFolder(), 'catalog.json')
    const source = `openrouter=${await serverOf(listOf(model))}`
    expect(await run(['--out', out, '--source', source])).toContain('+ openrouter tencent/hy4: 1.25/10\n')
    expect(JSON.parse(readFileSync(out, 'utf8')).as_of).toBe('2026-11-22')
    expect(await run(['--out', out, '--source', source])).toContain('; 0 offers changed.')
  })

  test('that is refused leaves the file unchanged and creates no other', async () => {
    const folder = newFolder()
    const out = join(folder, 'catalog.json')
    await run(['--out', out, '--source', `openrouter=${await serverOf(listOf(model))}`])
    const before = readFileSync(out, 'utf8')
    const hostile = await serverOf({ data: 'no list' })
    await expect(run(['--out', out, '--source', `openrouter=${hostile}`])).rejects.toThrow(
      /^The catalog is not updated\. https:\/\/openrouter/,
    )
    expect([readdirSync(folder), readFileSync(out, 'utf8') === before]).toEqual([['catalog.json'], true])
  })

  test('names an unknown source, and requires a file', async () => {
    await expect(run(['--out', 'x.json', '--source', 'prices'])).rejects.toThrow(/--source is "prices"; it takes one of models\.dev/)
    await expect(run([])).rejects.toThrow(/takes --out FILE/)
  })

  test('shows no secret of an address in the wrong place', async () => {
    const address = 'https://me:pa55@mirror.example/api.json?token=pa55'
    await expect(run(['--out', 'x.json', '--source', address])).rejects.toThrow(
      '--source is "https://…@mirror.example/api.json?…"; it takes',
    )
    await expect(run(['--out', 'x.json', address])).rejects.toThrow("'https://…@mirror.example/api.json?…'")
    await expect(run(['--out', 'x.json', `--mirror=${address}`])).rejects.toThrow(/^(?!.*pa55)/s)
  })
})

test('a changed catalog file is loaded, and an invalid one is logged once', async () => {
  const file = join(newFolder(), 'catalog.json')
  writeFileSync(file, 'one')
  const replace = vi.fn()
  const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const load = () => {
    if (readFileSync(file, 'utf8') === 'faulty') throw new Error('It is faulty.')
    return []
  }
  onTestFinished(watchCatalog({ catalog: { file }, load, replace, logger, pollMs: 5 }))
  writeFileSync(file, 'faulty')
  await waitUntil(() => logger.error.mock.calls.length > 0)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect([logger.error.mock.calls.length, replace.mock.calls.length]).toEqual([1, 0])
  writeFileSync(file, 'another')
  await waitUntil(() => replace.mock.calls.length > 0)
})

test('a catalog older than 30 days is logged, with the command that updates it', () => {
  expect(ageNotices('built-in', Date.parse('2026-10-30T23:00:00Z'))).toEqual([])
  expect(ageNotices('none', Date.parse('2036-10-30'))).toEqual([])
  expect(ageNotices('built-in', Date.parse('2026-11-22'))).toEqual([
    'The catalog is of 2026-09-30, 53 days ago, and prices change: run `signalbox catalog update --out catalog.json` and set `catalog.file` to catalog.json.',
  ])
})
