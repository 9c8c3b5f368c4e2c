import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'

test('the blocks of docs/client.md run in order', async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/client.md'), 'utf8')
  const program = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code).join('')
  expect(program).toContain('createClient')
  const gateway = createGateway({ providers: [], models: [], storage: memoryStorage() })
  const { id } = await gateway.workspaces.create({ name: 'Acme' })
  const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'admin', scopes: '*' })
  const server = await serve(gateway, { port: 0 })
  /** Inside the package, so that its own name is found. */
  const folder = mkdtempSync(join(import.meta.dirname, 'blocks-'))
  try {
    writeFileSync(join(folder, 'page.ts'), program)
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=signalbox-source', '--no-warnings', 'page.ts'], {
      cwd: folder,
      env: { GATEWAY_URL: server.url, GATEWAY_KEY: secret },
    })
    const [key, cost, list, ...others] = stdout.trim().split('\n')
    expect(key).toMatch(/^ak_/)
    expect([cost, list]).toEqual(['0', '2 false'])
    expect(others.slice(0, -1)).toHaveLength(2)
    expect(others.at(-1)).toMatch(/^invalid_parameter_value 400 rate_limit_rpm .* [\w-]{36}$/)
    expect((await gateway.workspaces(id).billing.balance()).balance).toBe(5_000_000)
  } finally {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
