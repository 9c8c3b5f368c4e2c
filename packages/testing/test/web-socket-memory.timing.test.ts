import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { openWebSocket } from '../../node-http/test/web-socket-client.ts'

test('1,000 idle connections take less than 20 kB each', { timeout: 60_000 }, async () => {
  const child = spawn(
    process.execPath,
    ['--conditions=signalbox-source', '--expose-gc', resolve(import.meta.dirname, 'web-socket-child.ts')],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async (): Promise<string> => String((await lines.next()).value)
  const memory = async (): Promise<number> => {
    child.stdin.write('\n')
    return Number(await line())
  }
  const { url, secret } = JSON.parse(await line())
  const headers = { authorization: `Bearer ${secret}`, 'user-agent': 'codex_cli_rs/0.169.0', originator: 'codex_cli_rs' }
  const open = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 50) await Promise.all(Array.from({ length: 50 }, () => openWebSocket(url, headers)))
  }
  await open(100)
  const before = await memory()
  await open(1_000)
  const each = ((await memory()) - before) / 1_000
  expect(each).toBeGreaterThan(1_000)
  expect(each).toBeLessThan(20_000)
  // Each still answers.
  const { ask } = await openWebSocket(url, headers)
  expect((await ask({ model: 'echo', input: 'Hello.' })).at(-1)?.type).toBe('response.completed')
})
