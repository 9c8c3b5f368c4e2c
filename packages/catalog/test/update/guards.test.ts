import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fetchSources } from '../../src/update/index.ts'
import { current, listed, modelsDev, unchanged, update } from './samples.ts'

const problemsOf = (sources: Parameters<typeof update>[0], more?: Parameters<typeof update>[1]): readonly string[] => {
  const before = JSON.stringify(current)
  const result = update(sources, more)
  expect(JSON.stringify(current)).toBe(before)
  return result.ok ? [] : result.problems
}

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

describe('a fact that one source changes suddenly', () => {
  const [gpt5] = unchanged.openai
  const changed = (cost: readonly [number, number], more: object = {}) =>
    modelsDev({ ...unchanged, openai: [listed('gpt-5', cost, { ...gpt5, ...more, cost: undefined })] })
  const gpt5After = (result: ReturnType<typeof update>) =>
    result.ok ? result.catalog.models.flatMap(({ offers }) => offers).find(({ provider }) => provider === 'openai') : undefined

  test.each<[string, readonly [number, number]]>([
    ['nothing', [0, 0]],
    ['a hundredth', [0.0125, 0.1]],
    ['less than a third, in one rate alone', [1.25, 3]],
    ['more than three times', [1.25, 31]],
  ])('stays: a price that would become %s', (_, cost) => {
    const result = update({ 'models.dev': changed(cost) })
    expect(gpt5After(result)?.price).toMatchObject({ input: 1_250_000, output: 10_000_000 })
    expect(result.warnings).toEqual([expect.stringContaining('gpt-5 at openai would cost')])
  })

  test('is taken within three times, and after a price of 0', () => {
    expect(gpt5After(update({ 'models.dev': changed([0.5, 4]) }))?.price).toMatchObject({ input: 500_000, output: 4_000_000 })
  })

  test('is taken from a correction', () => {
    const corrections = { offers: { openai: { 'gpt-5': { price: { input: 400_000, output: 3_000_000 } } } } }
    expect(gpt5After(update({ 'models.dev': changed([0.4, 3]) }, { corrections }))?.price).toMatchObject({ input: 400_000 })
  })

  test('stays: a context window', () => {
    const result = update({ 'models.dev': changed([1.25, 10], { limit: { context: 4_000, output: 2_000 } }) })
    expect(gpt5After(result)?.contextWindow).toBe(400_000)
    expect(result.warnings).toContainEqual(expect.stringContaining('`context_window` of gpt-5 at openai would be 4000 instead of 400000'))
  })
})

describe('an update is refused', () => {
  test('if it loses more than 5 % of the live offers', () => {
    expect(problemsOf({ 'models.dev': modelsDev({ ...unchanged, groq: [] }) })).toEqual([
      'The update would lose 1 of 4 live offers, such as openai/gpt-oss-20b at groq; at most 5 % may end at once.',
    ])
  })

  test('if the median price changes by more than 20 %', () => {
    const jumped = Object.fromEntries(
      Object.entries(unchanged).map(([id, models]) => [
        id,
        models.map(model => {
          const { input, output } = model.cost as { input: number; output: number }
          return listed(String(model.id), [input * 1.5, output * 1.5])
        }),
      ]),
    )
    expect(problemsOf({ 'models.dev': modelsDev(jumped) })).toEqual([
      expect.stringMatching(/^The median price of input would change from 0\.15 USD to 0\.225 USD; at most 20 % may change at once\.$/),
      expect.stringMatching(/^The median price of output would change/),
    ])
  })

  test.each([
    ['a text', 'hello', 'models.dev is no JSON object or list.'],
    ['null', null, 'models.dev is no JSON object or list.'],
    ['an empty object', {}, 'https://models.dev/api.json lists no offer in a form that is known.'],
    ['a list', [1, 2], 'https://models.dev/api.json lists no offer in a form that is known.'],
    ['wrong types', { openai: { models: [[]] } }, 'https://models.dev/api.json lists no offer in a form that is known.'],
    ['deep nesting', nested(100_000), 'models.dev is nested deeper than 24 levels.'],
    [
      'a field that sets a prototype',
      JSON.parse('{"openai":{"models":{"x":{"__proto__":{"id":1}}}}}'),
      'models.dev has a field "__proto__".',
    ],
    ['too many values', [new Array(4_000_001).fill(1)], 'models.dev has more than 4000000 values.'],
  ])('if a source is %s', (_, json, problem) => {
    expect(problemsOf({ 'models.dev': json })).toEqual([problem])
  })

  test('if its result would not be a valid catalog', () => {
    const corrections = { models: { 'gpt-5': { aliases: ['deepseek-chat'] } } }
    expect(problemsOf({ 'models.dev': modelsDev(unchanged) }, { corrections })).toEqual([expect.stringContaining('which is a name of')])
  })

  test('if the catalog has a later date', () => {
    expect(problemsOf({}, { today: '2026-01-01' })).toEqual(['The catalog is of 2026-09-30, which is after 2026-01-01.'])
  })
})

test('names such as "constructor" are valid names', () => {
  const openai = [...unchanged.openai, ...['constructor', 'toString', 'hasOwnProperty'].map(id => listed(id, [1, 1]))]
  const result = update({ 'models.dev': modelsDev({ ...unchanged, openai, constructor: [] }) })
  expect(result.ok && result.catalog.models.map(({ id }) => id)).toContain('hasOwnProperty')
  expect(Object.keys(Object.prototype)).toEqual([])
})

describe('a source', () => {
  /** A server whose response depends on the path. */
  async function serverUrl(): Promise<string> {
    const server = createServer((request, response) => {
      const [url] = request.url?.split('?') ?? []
      if (url === '/slow') return
      if (url === '/huge') response.end('x'.repeat(100_000))
      else if (url === '/broken') response.end('{"a":')
      else if (url === '/500') response.writeHead(500).end()
      else response.end('{"data":[]}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test.each([
    ['/huge', 'it has more than 50000 bytes', 60_000],
    ['/slow', 'no response within 30 ms', 30],
    ['/500', 'responded with status 500', 60_000],
    ['/broken', 'openrouter is not valid JSON.', 60_000],
  ])('at %s is refused in one line', async (path, problem, timeoutMs) => {
    const read = await fetchSources([{ name: 'openrouter', url: (await serverUrl()) + path }], { fetch, maxBytes: 50_000, timeoutMs })
    expect(read).toEqual({ ok: false, problems: [expect.stringContaining(problem)] })
  })

  test.each(['/500', '/huge', '/slow', ':none'])('at %s is named without the secrets of its address', async path => {
    const url = `${(await serverUrl()).replace('//', '//me:pa55@')}${path}?token=pa56`
    const read = await fetchSources([{ name: 'openrouter', url }], { fetch, maxBytes: 50_000, timeoutMs: 200 })
    expect(read).toEqual({ ok: false, problems: [expect.stringMatching(/openrouter.*…@127\.0\.0\.1/)] })
    expect(JSON.stringify(read)).not.toMatch(/pa5[56]|me:/)
  })

  test('gets the user and password of its address as basic authorization', async () => {
    const seen: unknown[] = []
    const server = createServer(({ url, headers }, response) => {
      seen.push([url, headers.authorization])
      response.end('{}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://me:p%C3%A4%25ss@127.0.0.1:${(server.address() as AddressInfo).port}/api.json?token=t`
    expect(await fetchSources([{ name: 'openrouter', url }], { fetch })).toEqual({ ok: true, sources: { openrouter: {} } })
    expect(seen).toEqual([['/api.json?token=t', `Basic ${Buffer.from('me:pä%ss').toString('base64')}`]])
  })

  test('returns parsed JSON', async () => {
    const read = await fetchSources([{ name: 'openrouter', url: await serverUrl() }], { fetch })
    expect(read).toEqual({ ok: true, sources: { openrouter: { data: [] } } })
  })
})
