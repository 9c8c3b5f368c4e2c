import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../testing/tools/runtimes/free-port.ts'
import { serveFakeProvider } from '../../testing/tools/runtimes/provider-server.ts'
import { askBlock, blocksOf, expectedAnswers, readmeBlock } from '../../testing/tools/runtimes/readme.ts'

// The blocks of the pages about frameworks, word for word, on Node.

const pages = readdirSync(resolve(import.meta.dirname, '../../../docs/getting-started')).map(file => file.replace('.md', ''))
const onNode = ['express', 'fastify', 'hono', 'nest']
/** Inside the package, so that its own name and the frameworks are found. */
const folder = mkdtempSync(join(import.meta.dirname, 'blocks-'))
const key = 'ak_for-the-pages-0123456789'
let provider: Awaited<ReturnType<typeof serveFakeProvider>>

beforeAll(async () => {
  provider = await serveFakeProvider()
})
afterAll(() => {
  provider.close()
  rmSync(folder, { recursive: true, force: true })
})

const appModule = `import 'reflect-metadata'
import { Module } from '@nestjs/common'
export class AppModule {}
Module({})(AppModule)
`

const cases = onNode.flatMap(page => blocksOf(`docs/getting-started/${page}.md`).map(block => ({ page, ...block })))

test.each(cases)('$page: $file answers, and the rest of the app stays its own', async ({ page, file, code }) => {
  const port = await freePort()
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  put('gateway.ts', readmeBlock().replace('11434', String(provider.port)).replace('signalbox.db', `${page}-${file}.db`))
  put('app.module.ts', appModule)
  put(file, code.replace('8787', String(port)))
  const args = ['--conditions=signalbox-source', '--no-warnings', file]
  const child = spawn(process.execPath, args, { cwd: folder, env: { GATEWAY_KEY: key }, stdio: ['ignore', 'ignore', 'inherit'] })
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

describe('a page about a place that README.md has a block for', () => {
  test.each([
    ['node', 'Node'],
    ['bun', 'Bun'],
    ['deno', 'Deno'],
    ['next', 'Next.js'],
    ['workers', 'Workers'],
  ])('%s has the same block, which is run with README.md', (page, place) => {
    expect(blocksOf(`docs/getting-started/${page}.md`).map(({ code }) => code)).toEqual([readmeBlock(place)])
  })
})

test('every page is run', () => {
  expect(pages.sort()).toEqual([...onNode, 'bun', 'deno', 'next', 'node', 'workers'].sort())
})
