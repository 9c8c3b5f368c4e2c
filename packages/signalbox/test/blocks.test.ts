import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../testing/tools/runtimes/free-port.ts'
import { blockPages, codeBlocks, fencesOf } from './blocks/blocks.ts'
import { compile } from './blocks/compile.ts'
import { docExamples } from './blocks/examples.ts'

// Every block of code on every page. Those that name their file are run by getting-started.test.ts and pages.test.ts.

const blocks = codeBlocks()
const count = (use: string): number => blocks.filter(block => block.use === use).length

test('all code blocks, and each `@example` of a docstring beside its file, compile; an error names the block and line', () => {
  const examples = docExamples()
  expect(examples.length).toBeGreaterThan(100)
  const code = "import { createGatway } from 'signalbox'\nconst price: number = gateway\n"
  const wrongBlock = { place: 'docs/wrong.md:1', page: '', file: undefined, language: 'ts', use: 'run', reason: '', code } as const
  const wrongExample = {
    place: 'options.ts:1',
    file: resolve(import.meta.dirname, '../../gateway/src/wrong-options.ts'),
    code: "import { type GatewayOptions } from './options.ts'\nexport const example: GatewayOptions['strategies'] = { thrifty: ({ cost, failure }) => cost }\n",
  }
  expect(compile([...blocks, wrongBlock], [...examples, wrongExample])).toEqual([
    expect.stringMatching(/^docs\/wrong\.md:1 \+1: .*createGatway/),
    expect.stringMatching(/^docs\/wrong\.md:1 \+2: .*not assignable/),
    expect.stringMatching(/^options\.ts:1 \+2: .*failure/),
  ])
})

describe('blocks that are not run', () => {
  test('may only become fewer', () => {
    expect(count('run')).toBeGreaterThanOrEqual(50)
    expect({ 'no-run': count('no-run'), fragment: count('fragment') }).toEqual({ 'no-run': 8, fragment: 15 })
    expect(blocks.filter(({ use, reason }) => use !== 'run' && use !== 'file' && reason.length < 10)).toEqual([])
  })

  test('that name their file are on pages whose tests run them', () => {
    const pages = new Set(blocks.filter(({ use }) => use === 'file').map(({ page }) => page))
    expect([...pages].filter(page => page !== 'docs/embed.md' && !page.startsWith('docs/getting-started/'))).toEqual([])
  })

  test('that are files of an example are as they stand there', () => {
    const examples = blocks.filter(({ use }) => use === 'example')
    expect(examples.length).toBeGreaterThan(5)
    for (const { place, reason, code } of examples) {
      const file = readFileSync(resolve(import.meta.dirname, '../../../examples', reason), 'utf8')
      expect(`${place}\n${code}`).toBe(`${place}\n${file}`)
    }
  })

  test('are not hidden by another language tag', () => {
    const known = new Set(['ts', 'tsx', 'js', 'json', 'jsonc', 'sh', 'toml', 'sql', 'yaml', 'ini', 'dockerfile', 'text'])
    expect(
      blockPages().flatMap(page =>
        fencesOf(page)
          .filter(language => !known.has(language))
          .map(language => `${page}: ${language}`),
      ),
    ).toEqual([])
  })
})

describe('blocks that run', () => {
  const folder = mkdtempSync(join(import.meta.dirname, 'blocks-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const running = blocks.filter(({ use }) => use === 'run')
  let found: readonly { readonly file: string; readonly faults: readonly string[] }[]

  beforeAll(async () => {
    const port = await freePort()
    const catalogPage = readFileSync(resolve(import.meta.dirname, '../../../docs/catalog.md'), 'utf8')
    writeFileSync(join(folder, 'catalog.json'), /^```json catalog\n([\s\S]*?)^```/m.exec(catalogPage)?.[1] ?? '')
    for (const [at, { language, code }] of running.entries()) {
      const text = code
        .replace(/(listen\(|port: )8787/, '$10')
        .replaceAll(':8787', `:${port}`)
        .replaceAll(/(ak_|sk-)…/g, '$1for-the-blocks-0123456789')
      writeFileSync(join(folder, `block-${String(at).padStart(3, '0')}.${language}`), `${text}\nexport {}\n`)
    }
    const script = join(import.meta.dirname, 'blocks/run.ts')
    const args = ['--conditions=signalbox-source', '--no-warnings', script, folder, String(port)]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: folder,
      timeout: 240_000,
      env: {
        GATEWAY_URL: `http://127.0.0.1:${port}`,
        GATEWAY_KEY: 'ak_for-the-blocks-0123456789',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      },
    })
    found = stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)]))
  })

  test.each(running.map(({ place }, at) => ({ place, at })))('$place', ({ at }) => {
    expect(found[at]?.faults).toEqual([])
  })
})
