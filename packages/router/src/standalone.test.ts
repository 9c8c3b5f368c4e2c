import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

// The router works without the gateway: from its own package, in any runtime, small enough for a browser or worker.

const bundle = async (contents: string) => {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['signalbox-source', 'import'],
    target: 'es2023',
  })
  return { code: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) }
}

test('a program that imports only the router chooses, learns from a failure, and chooses another offer', async () => {
  const { code, inputs } = await bundle(`
    import { createRouter } from '@signalbox/router'
    const price = { input: 500_000, output: 1_600_000 }
    let now = 0
    const router = createRouter({ offers: [{ id: 'a', price }, { id: 'b', price: { input: 600_000, output: 1_800_000 } }], clock: { now: () => now } })
    const choices = []
    for (let request = 0; request < 20; request += 1) {
      const plan = router.plan({ inputTokens: 900 })
      for (let choice = plan.next(); choice; choice = plan.next()) {
        choices.push(choice.offer.id)
        const attempt = router.startAttempt(choice)
        now += 400
        if (choice.offer.id === 'a' && request >= 10) { router.failAttempt(attempt, { kind: 'error' }); continue }
        router.recordFirstContent(attempt)
        now += 2_000
        router.finishAttempt(attempt, { outputTokens: 300 })
        break
      }
    }
    console.log(JSON.stringify({ before: choices.slice(5, 10), after: choices.slice(-5) }))
  `)
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code])
  expect(JSON.parse(stdout)).toEqual({ before: Array(5).fill('a'), after: Array(5).fill('b') })
  expect(inputs.filter(path => /packages\/(core|api|catalog)\//.test(path))).toEqual([])
})

test('the whole router takes at most 22 kB, minified and gzipped', async () => {
  const { code } = await bundle(`export * from '@signalbox/router'`)
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(22_000)
})

test('the routing code, without the decision log and the sync of processes, stays under 2,500 lines', () => {
  const files = readdirSync(import.meta.dirname).filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const lines = files.flatMap(name => readFileSync(resolve(import.meta.dirname, name), 'utf8').split('\n'))
  expect(lines.filter(line => !/^\s*(\/\/|\/\*|\*|$)/.test(line)).length).toBeLessThan(2_500)
})
