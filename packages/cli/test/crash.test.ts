import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { newFolder } from './launch.ts'

const source = (name: string): string => JSON.stringify(join(import.meta.dirname, `../src/${name}.ts`))

/** A server with pending log lines in a turn that never ends, whose process then crashes. */
const crashing = `
const { readConfig } = await import(${source('config')})
const { start } = await import(${source('server')})
const { setImmediate } = globalThis
globalThis.setImmediate = (run, ...input) => run.name === 'flush' ? undefined : setImmediate(run, ...input)
const { port } = await start(readConfig({ PORT: '0', SIGNALBOX_STORAGE: 'memory:' }), { environment: {}, version: '0', sink: process.stderr })
await (await fetch('http://127.0.0.1:' + port + '/healthz')).text()
setTimeout(() => { throw new Error('crashed by the test') }, 50)
`

test('a crashing process writes its pending log lines before the crash report', async () => {
  const child = promisify(execFile)(process.execPath, ['--conditions=signalbox-source', '--input-type=module', '-e', crashing], {
    cwd: newFolder(),
  })
  const { stderr, code } = await child.then(
    () => ({ stderr: '', code: 0 }),
    (error: { readonly stderr: string; readonly code: number }) => error,
  )
  expect(code).toBe(1)
  expect(stderr).toContain('"route":"/healthz"')
  expect(stderr.indexOf('"route":"/healthz"')).toBeLessThan(stderr.indexOf('crashed by the test'))
})
