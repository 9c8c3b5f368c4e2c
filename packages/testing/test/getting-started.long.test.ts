import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildAndPack } from '../tools/build/pack-all.ts'
import { freePort } from '../tools/runtimes/free-port.ts'
import { oneAtATime } from '../tools/runtimes/one-at-a-time.ts'
import { scriptOf, stepsOf, streamedText } from '../tools/runtimes/page-steps.ts'
import { environmentWithoutWorkspace } from '../tools/runtimes/tarballs.ts'

// The pages of docs/getting-started in an empty folder beside a clone, word for word except for the port, and the apps of `signalbox init`.

const modules = resolve(import.meta.dirname, '../../../node_modules')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-first-hour-')))
const programs = { node: process.execPath, bun: join(modules, 'bun/bin/bun.exe'), deno: join(modules, 'deno/deno') }

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'))
  for (const [name, file] of Object.entries(programs)) symlinkSync(file, join(folder, 'bin', name))
  // The clone, with what `pnpm tarballs` makes in it.
  await oneAtATime('tarballs', () => buildAndPack(join(folder, 'signalbox/tarballs')))
}, 1_800_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }), 300_000)

const env = (): Record<string, string> => ({
  ...environmentWithoutWorkspace(join(folder, 'caches')),
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  // A provider key of this machine would reach its provider.
  OPENAI_API_KEY: '',
  CI: 'true',
})

/** Runs a script in bash, and ends what it has started. The output of the script, and of nothing else, is returned. */
async function bash(script: string, cwd: string): Promise<string> {
  const child = spawn('bash', ['-c', script], { cwd, env: env(), detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let all = ''
  child.stdout.on('data', text => {
    out += text
    all += text
  })
  child.stderr.on('data', text => {
    all += text
  })
  const code = await new Promise(done => child.once('exit', done))
  try {
    if (child.pid !== undefined) process.kill(-child.pid)
  } catch {
    // Nothing was left.
  }
  if (code !== 0) throw new Error(`It ended with ${code}:\n${all}`)
  return out
}

/** The same text at a port that is free. `wrangler` takes none from a file of the page. */
const at = (port: number, text: string): string =>
  text
    .replaceAll(/8787|(?<=127\.0\.0\.1:)3000/g, String(port))
    .replace('next dev', `next dev --port ${port}`)
    .replace('wrangler dev', `wrangler dev --port ${port}`)

describe.each(['node', 'hono', 'express', 'fastify', 'nest', 'next', 'bun', 'deno', 'workers'])('the page %s', page => {
  test('leads from an empty folder to a streamed answer, offline', { timeout: 900_000 }, async () => {
    const app = join(folder, `${page}-page`)
    mkdirSync(app)
    const port = await freePort()
    const steps = stepsOf(page)
    for (const step of steps) {
      if (step.kind !== 'file') continue
      mkdirSync(dirname(join(app, step.path)), { recursive: true })
      writeFileSync(join(app, step.path), at(port, step.text))
    }
    expect(streamedText(await bash(at(port, scriptOf(steps)), app))).toContain('signalbox at a junction')
  })
})

describe.each(['node', 'hono', 'next', 'bun', 'workers'])('signalbox init --for %s', name => {
  test('writes an app that the printed commands start, and that streams the printed request, offline', { timeout: 900_000 }, async () => {
    const app = join(folder, `${name}-init`)
    mkdirSync(app)
    const said = await bash(
      `npm init -y > npm.log && npm install ../signalbox/tarballs/*.tgz >> npm.log && npx signalbox init --for ${name}`,
      app,
    )
    const [, commands = '', request = ''] = /^Start it:\n\n([\s\S]*?)\n\n[^\n]*\n\n(curl [\s\S]*)$/m.exec(said) ?? []
    const port = await freePort()
    const server = join(app, 'server.ts')
    if (existsSync(server)) writeFileSync(server, at(port, readFileSync(server, 'utf8')))
    const steps = [`${commands} &\n`, request].map(text => ({ kind: 'commands' as const, text }))
    expect(streamedText(await bash(at(port, scriptOf(steps)), app))).toContain('signalbox at a junction')
  })
})
