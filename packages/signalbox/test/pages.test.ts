import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitUntil } from '../../testing/test/waits.ts'
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

const cases = onNode.flatMap(page => {
  const blocks = blocksOf(`docs/getting-started/${page}.md`)
  const isServer = ({ file }: { readonly file: string }): boolean => !['gateway.ts', 'app.module.ts'].includes(file)
  return blocks.filter(isServer).map(block => ({ page, ...block }))
})
/** The servers of all pages in one process, each in a folder of its own: loading the packages takes longer than all that they answer. */
let servers: ChildProcess
let ports: readonly number[]

const put = (directory: string, files: Readonly<Record<string, string>>): void => {
  mkdirSync(join(folder, directory), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, directory, name), text)
}
const args = ['--conditions=signalbox-source', '--no-warnings']

beforeAll(async () => {
  provider = await serveFakeProvider()
  ports = await Promise.all(cases.map(freePort))
  for (const [at, { file, page, code }] of cases.entries())
    put(`server-${at}`, {
      'gateway.ts': gatewayBlock(provider.port, `${page}-${file}.db`),
      'app.module.ts': startBlock('nest', 'app.module.ts'),
      [file]: code.replace('8787', String(ports[at])),
    })
  const imports = cases.map(({ file }, at) => `await import('./server-${at}/${file}')\n`)
  put('.', { 'servers.ts': `${imports.join('')}export {}\n` })
  servers = spawn(process.execPath, [...args, 'servers.ts'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
})
afterAll(async () => {
  servers.kill()
  if (servers.exitCode === null) await once(servers, 'exit')
  provider.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each(cases.map(({ page, file, code }, at) => ({ page, file, code, at })))(
  '$page: $file responds, and the rest of the app is not affected',
  async ({ file, code, at }) => {
    const base = `http://127.0.0.1:${ports[at]}`
    await waitUntil(async () => {
      if (servers.exitCode !== null) throw new Error(`The servers ended with ${servers.exitCode}.`)
      return fetch(`${base}/llm/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    })
    expect(await askBlock(fetch, key, `${base}/llm`)).toMatchObject(expectedAnswers)
    const home = await fetch(base)
    expect(code.includes('An app with a gateway in it.') ? await home.text() : home.status).toBe(
      code.includes('An app with a gateway in it.') ? 'An app with a gateway in it.' : 404,
    )
    if (file.includes('websockets')) expect(await upgradeStatus(`${base}/llm/v1/responses`)).toBe(101)
  },
)

/** Budgets of a user, with what the chat shows under each, and what it does not. */
const budgets = [
  ['usd(5)', 'Hello from the block.', 'no room for another answer'],
  ['usd(0.000001)', 'Your budget of this month has no room for another answer.', 'Hello from the block.'],
] as const

/** A program that prints what the chat route of each budget answers without a session cookie, and with one. */
const askChats = `const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }]
for (const at of [${[...budgets.keys()]}]) {
  const { POST } = await import(\`./chat-\${at}/chat.ts\`)
  for (const cookie of [undefined, 'session=u_42']) {
    const headers = cookie === undefined ? {} : { cookie }
    const reply = await POST(new Request('http://app.example/api/chat', { method: 'POST', headers, body: JSON.stringify({ messages }) }))
    console.log(JSON.stringify(\`\${reply.status} \${await reply.text()}\`))
  }
}
process.exit()
`

describe('the chat of the Next.js page', () => {
  const user = startBlock('next', 'user.ts')
  const route = startBlock('next', 'app/api/chat/route.ts')
  const here = (code: string): string => code.replace('@/gateway', './gateway.ts').replace('@/user', './user.ts')
  const signIn = 'const readSession = async (cookie: string | null) => (cookie === null ? undefined : { userId: cookie })'
  let answers: readonly string[]
  let log: string

  beforeAll(async () => {
    for (const [at, [limit]] of budgets.entries())
      put(`chat-${at}`, {
        'gateway.ts': gatewayBlock(provider.port, `chat-${at}.db`),
        'user.ts': `${here(user).replace('usd(5)', limit)}\n${signIn}\n`,
        'chat.ts': here(route),
      })
    put('.', { 'ask-chats.ts': askChats })
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, 'ask-chats.ts'], { cwd: folder, env })
    answers = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    log = stderr
  })

  test.each(budgets.map(([limit, shown, hidden], at) => ({ limit, shown, hidden, at })))(
    'with a budget of $limit responds to a signed-in user with "$shown"',
    ({ shown, hidden, at }) => {
      const [refused, answered] = answers.slice(2 * at)
      expect(refused).toBe('401 Sign in first.')
      expect(answered).toMatch(/^200 /)
      expect(answered).toContain(shown)
      expect(answered).not.toContain(hidden)
    },
  )

  test('logs no refusal, which is for the user', () => {
    expect(log).not.toContain('APICallError')
  })
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
