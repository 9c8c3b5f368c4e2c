import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'

// Each example is started as its README says, asked as its output says, and stopped.

const modules = resolve(import.meta.dirname, '../node_modules')
/** The real programs: what pnpm puts on the path are wrappers, and ending one of them would leave the other running. */
const programs: Readonly<Record<string, string>> = { node: process.execPath, bun: join(modules, 'bun/bin/bun.exe') }

interface Manifest {
  readonly scripts: { readonly start: string }
}

function commandOf(name: string): { readonly program: string; readonly args: readonly string[] } {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, name, 'package.json'), 'utf8')) as Manifest
  const [program = '', ...args] = manifest.scripts.start.split(' ')
  return { program: programs[program] ?? program, args }
}

const running = new Set<ChildProcess>()

function start(
  name: string,
  port: number,
): { readonly said: () => string; readonly until: (words: RegExp) => Promise<string>; readonly over: Promise<number | null> } {
  const { program, args } = commandOf(name)
  // Nobody's key: the examples must work without one, and never reach out from a test.
  const env = { PORT: String(port), NO_COLOR: '1', DO_NOT_TRACK: '1' }
  const child = spawn(program, args, { cwd: join(import.meta.dirname, name), env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  let output = ''
  const listeners = new Set<() => void>()
  const hear = (data: Buffer): void => {
    output += data.toString()
    for (const listener of listeners) listener()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const over = new Promise<number | null>(done => child.once('close', done))
  const until = (words: RegExp): Promise<string> =>
    new Promise((done, fail) => {
      const look = (): void => (words.test(output) ? done(output) : undefined)
      listeners.add(look)
      look()
      void over.then(code => fail(new Error(`${name} ended with ${code}:\n${output}`)))
    })
  return { said: () => output, until, over }
}

afterEach(async () => {
  for (const child of running) {
    running.delete(child)
    if (child.exitCode !== null || child.signalCode !== null) continue
    const gone = new Promise(done => child.once('exit', done))
    child.kill()
    await gone
  }
})

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(done => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  return port
}

const servers = ['bun-server', 'hono', 'node-http']

describe.each(servers)('%s', name => {
  test.skipIf(!existsSync(commandOf(name).program))('answers whole and streamed', async () => {
    const told = await start(name, await freePort()).until(/ak_\w+[\s\S]*stream/)
    const url = /curl (\S+)/.exec(told)?.[1] ?? ''
    const secret = /ak_\w+/.exec(told)?.[0] ?? ''
    const ask = (body: object, key = secret): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'assistant', input: 'a ticket to the sea', ...body }),
      })

    const whole = await ask({})
    expect(whole.status).toBe(200)
    const answer = JSON.stringify(await whole.json())
    expect(answer).toContain('a ticket to the sea')
    expect(answer).toContain('"provider":"sim"')

    const streamed = await ask({ stream: true })
    expect(streamed.headers.get('content-type')).toContain('text/event-stream')
    const reads: string[] = []
    for await (const text of streamed.body?.pipeThrough(new TextDecoderStream()) ?? []) reads.push(text)
    const events = [...reads.join('').matchAll(/^event: (\S+)$/gm)].map(([, type]) => type)
    expect(events[0]).toBe('response.created')
    expect(events.at(-1)).toBe('response.completed')
    expect(reads.length).toBeGreaterThan(5)

    expect((await ask({}, 'ak_wrong')).status).toBe(401)
  })
})

test('hono: the rest of the app is still its own', async () => {
  const told = await start('hono', await freePort()).until(/ak_\w+[\s\S]*stream/)
  const { origin } = new URL(/curl (\S+)/.exec(told)?.[1] ?? '')
  expect(await (await fetch(origin)).text()).toBe('An app with a gateway in it.')
})

test('router-only: plans, falls back, answers both ways and accounts', async () => {
  const { over, said } = start('router-only', 0)
  expect(await over).toBe(0)
  const [notice, ...lines] = said().split('\n')
  expect(notice).toMatch(/^Providers are off .*openai/)
  expect(lines[0]).toBe('Would ask: sim-down, then sim')
  expect(lines[1]).toMatch(/^Left out: openai, since .*credential/)
  expect(said()).toContain('a ticket to the sea')
  expect(said()).toContain('Answered by sim.')
  expect(said()).toMatch(/Whole: completed, \d+ tokens, \$0\.0/)
  expect(Number(/Left of \$5: \$([\d.]+)/.exec(said())?.[1])).toBeLessThan(5)
})

test('any-sdk: each SDK asks in its own language and is answered in it', async () => {
  const { over, said } = start('any-sdk', 0)
  expect(await over).toBe(0)
  expect(said()).toContain('openai, responses: Hello from Responses')
  expect(said()).toContain('openai, chat: Hello from Chat Completions')
  expect(said()).toMatch(/anthropic: Hello from Messages \(\d+ tokens in, \d+ out\)/)
  expect(said()).toContain('ai: Hello from the AI SDK')
})
