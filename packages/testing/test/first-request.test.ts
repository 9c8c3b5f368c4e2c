import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { openWebSocket } from '../../node-http/test/web-socket-client.ts'

// A coding agent waits for the first request after each start: the server has loaded its code by then.

test('a listening server loads no file for its first requests, and for its first WebSocket only the plans of a warm-up', async () => {
  const child = spawn(process.execPath, ['--conditions=signalbox-source', resolve(import.meta.dirname, 'first-request-child.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async () => JSON.parse(String((await lines.next()).value))
  const loadedSince = (): Promise<readonly string[]> => {
    child.stdin.write('\n')
    return line()
  }
  const { url, secret } = await line()
  const authorization = `Bearer ${secret}`
  const { ask } = await openWebSocket(url, { authorization })
  const askOnce = async (generate: boolean): Promise<void> => {
    const answer = await ask({ model: 'echo', input: 'Hello.', generate })
    expect(answer.at(-1)?.type).toBe('response.completed')
  }
  await askOnce(false)
  expect((await loadedSince()).filter(file => !/^(gateway\/src\/lazy-imports|request\/(dry-run|compaction)\/)/.test(file))).toEqual([
    ...['src/metering/count.ts', 'workspaces/src/identity.ts'],
  ])
  await askOnce(true)
  for (const stream of [false, true]) {
    const response = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'echo', input: 'Hello.', stream }),
    })
    expect(await response.text()).toContain('"completed"')
  }
  // The sweep of accounts that are over, which runs beside requests.
  expect(await loadedSince()).toEqual(['request/settlement/ended-accounts.ts'])
})
