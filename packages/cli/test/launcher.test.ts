import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, inject, onTestFinished, test } from 'vitest'
import { newFolder } from './launch.ts'

/** A substitute for npx: starts a program, and forwards no signals. */
const launcher = `
process.title = 'npm exec pnpm@12 start'
const { spawn } = require('node:child_process')
const child = spawn(process.execPath, [${JSON.stringify(inject('programs').server)}], { stdio: ['ignore', 'inherit', 'inherit'] })
process.stdout.write('pid ' + child.pid + '\\n')
setInterval(() => {}, 1000)
`

test.skipIf(!existsSync('/proc/self/stat'))('a server whose launcher was killed exits too, and frees its port', async () => {
  const folder = newFolder()
  const child = spawn(process.execPath, ['-e', launcher], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PORT: '0', SIGNALBOX_STORAGE: 'memory:', npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said).toMatch(/http:\/\/127\.0\.0\.1:\d+/)
  const pid = Number(/pid (\d+)/.exec(said)?.[1])
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended, as it should.
    }
  })
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? ''
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  child.kill('SIGTERM')
  await expect
    .poll(() =>
      fetch(`${url}/healthz`).then(
        response => response.status,
        () => 'gone',
      ),
    )
    .toBe('gone')
})
