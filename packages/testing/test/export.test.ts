import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Api, type ApiReply, createApi } from '@signalbox/api'
import { asIterator, webClock } from '@signalbox/core/runtime'
import { createGateway } from '@signalbox/gateway'
import type { Storage, UsageRow } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { parse } from 'csv-parse/sync'
import { csvParseRows } from 'd3-dsv'
import Papa from 'papaparse'
import { describe, expect, onTestFinished, test } from 'vitest'

const at = Date.UTC(2026, 0, 15)

const row = (id: string, over: Partial<UsageRow> = {}): UsageRow => ({
  id,
  workspaceId: 'w',
  keyId: 'key_1',
  at,
  modelAsked: 'small',
  model: 'maker/small',
  provider: 'p',
  credential: 'platform',
  strategy: 'balanced',
  streamed: false,
  inputTokens: 10,
  outputTokens: 5,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  cost: 12,
  byokCost: 0,
  result: 'ok',
  attempts: 1,
  durationMs: 100,
  warnings: [],
  ...over,
})

const stores: Readonly<Record<string, () => Storage>> = {
  memory: () => memoryStorage(),
  sqlite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'export-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return sqliteStorage(join(folder, 'signalbox.db'))
  },
}

interface Fixture {
  readonly ask: (query?: string) => Promise<ApiReply>
  /** How often the store was read for a page. */
  readonly asked: { pages: number }
}

async function createFixture(
  storage: Storage,
  { rows, maxExportRows = 100_000 }: { readonly rows: readonly UsageRow[]; readonly maxExportRows?: number },
): Promise<Fixture> {
  const asked = { pages: 0 }
  const usage: Storage['usage'] = {
    ...storage.usage,
    list: query => {
      asked.pages += 1
      return storage.usage.list(query)
    },
  }
  const clock = { ...webClock(), now: () => at + 1_000 }
  const gateway = createGateway({
    providers: [],
    models: [],
    storage: { ...storage, usage },
    clock,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  })
  onTestFinished(() => gateway.close())
  await gateway.workspaces.create({ id: 'w', name: 'W' })
  const { secret } = await gateway.workspaces('w').apiKeys.create({ name: 'reader', scopes: ['usage:read'] })
  await Promise.all(rows.map(each => storage.usage.append(each)))
  const api = createApi(gateway, { maxExportRows })
  return { asked, ask: (query = '') => askFor(api, query, secret) }
}

const askFor = (api: Api, query: string, secret: string): Promise<ApiReply> =>
  api({
    method: 'GET',
    path: '/v1/workspaces/w/analytics/export',
    query,
    header: name => (name === 'authorization' ? `Bearer ${secret}` : undefined),
    text: async () => ({ ok: true, text: '' }),
    signal: new AbortController().signal,
  })

async function textOf({ body }: ApiReply): Promise<string> {
  if (typeof body === 'string') return body
  let text = ''
  const pieces = asIterator(body)
  for (let step = await pieces.next(); !step.done; step = await pieces.next()) text += step.value
  return text
}

const nasty = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  'a,b',
  'say "so"',
  'two\nlines',
  'zwölf 日本語',
  '=1\n=2',
  'a";=1+1;"',
  'a;=HYPERLINK("http://evil")',
  'a\t=1',
  'a|@x',
  'a -1',
  '＝1+1',
  'a;＠x',
  ' =1',
  "'=1",
  '\u0000',
]

describe.each(Object.entries(stores))('an export from %s', (_, open) => {
  test('is read by three parsers as written, and contains no formulas for a spreadsheet', async () => {
    const rows = nasty.map((text, n) => row(`r${String(n).padStart(2, '0')}`, { modelAsked: text, at: at + n, metadata: { [text]: text } }))
    const { ask } = await createFixture(open(), { rows })
    const text = await textOf(await ask())
    const readings: readonly (readonly string[][])[] = [
      parse(text, { relax_column_count: false }),
      Papa.parse<string[]>(text, { skipEmptyLines: true }).data,
      csvParseRows(text),
    ]
    for (const reading of readings) {
      const [head = [], ...lines] = reading
      const column = (name: string): readonly string[] => lines.map(line => line[head.indexOf(name)] ?? '')
      expect(column('id')).toEqual(rows.map(({ id }) => id).reverse())
      const told = column('model_requested').toReversed()
      const plain = (text: string): string => text.replaceAll("'", '')
      expect(told.map(plain)).toEqual(nasty.map(plain))
      expect(told.filter((each, n) => each === nasty[n])).toEqual(['a,b', 'say "so"', 'two\nlines', nasty[9], '\u0000'])
      for (const line of lines) for (const cell of line) expect(cell).not.toMatch(/^[=+\-@＝＋－＠\t\r]/)
    }
    // Opened with another separator, or with none of the quotes removed.
    for (const separator of [';', '\t', '|', ' ', ',']) {
      const { data } = Papa.parse<string[]>(text, { delimiter: separator, skipEmptyLines: true })
      const cells = [
        ...data.flat(),
        ...text
          .split(/[\r\n]+/)
          .flatMap(line => line.split(separator))
          .map(cell => cell.replace(/^"+/, '')),
      ]
      for (const cell of cells) expect(cell.trim()).not.toMatch(/^[=+\-@＝＋－＠]/)
    }
  })

  test('has headers with the number of rows, the limit, and whether it is complete', async () => {
    const rows = Array.from({ length: 7 }, (_, n) => row(`r${n}`, { at: at + n, keyId: n < 3 ? 'key_1' : 'key_2' }))
    const { ask } = await createFixture(open(), { rows, maxExportRows: 5 })
    const cut = await ask()
    expect(cut.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'x-export-row-count': '5',
      'x-export-row-limit': '5',
      'x-export-truncated': 'true',
    })
    expect(parse(await textOf(cut))).toHaveLength(6)
    const whole = await ask('api_key_id=key_1')
    expect(whole.headers).toMatchObject({ 'x-export-row-count': '3', 'x-export-truncated': 'false' })
    expect(parse(await textOf(whole))).toHaveLength(4)
    const none = await ask('model=nothing')
    expect(none.headers).toMatchObject({ 'x-export-row-count': '0' })
    expect(parse(await textOf(none))).toHaveLength(1)
  })

  test('reads a page once the previous one was consumed, and none after the client stops', async () => {
    const rows = Array.from({ length: 2_600 }, (_, n) => row(`r${n}`, { at: at - n }))
    const { ask, asked } = await createFixture(open(), { rows })
    const { body } = await ask()
    if (typeof body === 'string') throw new Error('An export comes in pieces.')
    const pieces = asIterator(body)
    await pieces.next()
    expect(asked.pages).toBe(0)
    await pieces.next()
    await pieces.next()
    expect(asked.pages).toBe(2)
    await pieces.return?.()
    expect(await pieces.next()).toEqual({ done: true, value: undefined })
    expect(asked.pages).toBe(2)
    expect(parse(await textOf(await ask()))).toHaveLength(2_601)
  })
})
