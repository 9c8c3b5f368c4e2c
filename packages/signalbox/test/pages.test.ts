import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../testing/tools/runtimes/free-port.ts'
import { askBlock, blocksOf, expectedAnswers, gatewayBlock, startBlock } from '../../testing/tools/runtimes/page-blocks.ts'
import { serveFakeProvider } from '../../testing/tools/runtimes/provider-server.ts'

// The blocks of the pages about frameworks, word for word, on Node.

const pages = readdirSync(resolve(import.meta.dirname, '../../../docs/getting-started')).map(file => file.replace('.md', ''))
const onNode = ['express', 'fastify', 'hono', 'nest']
/** Inside the package, so that its own name and the frameworks are found. */
const folder = mkdtempSync(join(import.meta.dirname, 'blocks-'))
const key = 'ak_for-the-pages-0123456789'
/** Of a program: no key of this machine reaches it. */
const { NODE_COMPILE_CACHE = '' } = process.env
const env = { GATEWAY_KEY: key, NODE_COMPILE_CACHE }
let provider: Awaited<ReturnType<typeof serveFakeProvider>>

beforeAll(async () => {
  provider = await serveFakeProvider()
})
afterAll(() => {
  provider.close()
  rmSync(folder, { recursive: true, force: true })
})

const cases = onNode.flatMap(page => {
  const blocks = blocksOf(`docs/getting-started/${page}.md`)
  const isServer = ({ file }: { readonly file: string }): boolean => !['gateway.ts', 'app.module.ts'].includes(file)
  return blocks.filter(isServer).map(block => ({ page, ...block }))
})

test.each(cases)('$page: $file responds, and the rest of the app is not affected', { timeout: 300_000 }, async ({ page, file, code }) => {
  const port = await freePort()
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  put('gateway.ts', gatewayBlock(provider.port, `${page}-${file}.db`))
  put('app.module.ts', startBlock('nest', 'app.module.ts'))
  put(file, code.replace('8787', String(port)))
  const args = ['--conditions=signalbox-source', '--no-warnings', file]
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    const base = `http://127.0.0.1:${port}`
    const isUp = async (): Promise<boolean> => (await fetch(`${base}/llm/healthz`).catch(() => undefined))?.ok === true
    while (!(await isUp())) {
      if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}.`)
      await new Promise(later => setTimeout(later, 50))
    }
    expect(await askBlock(fetch, key, `${base}/llm`)).toMatchObject(expectedAnswers)
    const home = await fetch(base)
    expect(code.includes('An app with a gateway in it.') ? await home.text() : home.status).toBe(
      code.includes('An app with a gateway in it.') ? 'An app with a gateway in it.' : 404,
    )
    if (file.includes('websockets')) expect(await upgradeStatus(`${base}/llm/v1/responses`)).toBe(101)
  } finally {
    child.kill()
  }
})

/** A program that prints what the chat route answers without a session cookie, and with one. */
const askChat = `import { POST } from './chat.ts'
const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }]
for (const cookie of [undefined, 'session=u_42']) {
  const headers = cookie === undefined ? {} : { cookie }
  const reply = await POST(new Request('http://app.example/api/chat', { method: 'POST', headers, body: JSON.stringify({ messages }) }))
  console.log(reply.status, await reply.text())
}
process.exit()
`

describe('the chat of the Next.js page', () => {
  const user = startBlock('next', 'user.ts')
  const route = startBlock('next', 'app/api/chat/route.ts')
  const here = (code: string): string => code.replace('@/gateway', './gateway.ts').replace('@/user', './user.ts')
  const signIn = 'const readSession = async (cookie: string | null) => (cookie === null ? undefined : { userId: cookie })'

  test.each([
    ['usd(5)', 'Hello from the block.', 'no room for another answer'],
    ['usd(0.000001)', 'Your budget of this month has no room for another answer.', 'Hello from the block.'],
  ])(
    'with a budget of %s responds to a signed-in user with "%s"',
    async (limit, shown, hidden) => {
      const put = (name: string, text: string): void => writeFileSync(join(folder, name), text)
      put('gateway.ts', gatewayBlock(provider.port, 'chat.db'))
      put('user.ts', `${here(user).replace('usd(5)', limit)}\n${signIn}\n`)
      put('chat.ts', here(route))
      put('ask-chat.ts', askChat)
      const args = ['--conditions=signalbox-source', '--no-warnings', 'ask-chat.ts']
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
      const [refused = '', answered = ''] = stdout.split(/\n(?=200 )/)
      expect(refused).toBe('401 Sign in first.')
      expect(answered).toContain(shown)
      expect(answered).not.toContain(hidden)
      // A refusal is for the user, and not for the log.
      expect(stderr).not.toContain('APICallError')
    },
    300_000,
  )
})

const upgradeStatus = (url: string): Promise<number | undefined> =>
  new Promise((done, fail) => {
    const websocket = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const sent = request(url, { headers: { authorization: `Bearer ${key}`, ...websocket } }, reply => done(reply.statusCode))
    sent.on('upgrade', (reply, socket) => {
      socket.destroy()
      done(reply.statusCode)
    })
    sent.once('error', fail).end()
  })

test('the gateway is the same on all pages that import it', () => {
  const gateways = pages.filter(page => page !== 'workers').map(page => [page, startBlock(page, 'gateway.ts')])
  expect(gateways).toEqual(gateways.map(([page]) => [page, startBlock('node', 'gateway.ts')]))
})

test('every page is run, with every block of it', () => {
  expect(pages.sort()).toEqual([...onNode, 'bun', 'deno', 'next', 'node', 'workers'].sort())
  const others = pages.filter(page => !onNode.includes(page))
  const more = others.flatMap(page => blocksOf(`docs/getting-started/${page}.md`).map(({ file }) => `${page}: ${file}`))
  expect(more.filter(file => !/: (gateway|server|src\/index)\.ts$/.test(file))).toEqual([
    'next: app/api/[...path]/route.ts',
    'next: user.ts',
    'next: app/api/chat/route.ts',
    'workers: src/app.ts',
  ])
})
