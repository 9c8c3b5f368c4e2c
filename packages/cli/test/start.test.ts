import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { namedStorage, openStorage } from '../src/storage.ts'
import { serving } from './in-process.ts'
import { type Asking, ask, failing, launch, listening, look, newFolder, stop } from './launch.ts'

const sh = (line: string): Promise<{ readonly stdout: string }> => promisify(execFile)('sh', ['-c', line], { timeout: 240_000 })
const hasCurl = await sh('curl --version').then(
  () => true,
  () => false,
)

describe('the config', () => {
  test('has these defaults', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8787,
      workers: 1,
      owned_by: 'signalbox',
      storage: 'sqlite:signalbox.db',
      workspace: { name: 'default', credit_usd: 100 },
      catalog: 'built-in',
      providers: [],
      models: [],
      strategy: 'balanced',
      hedge: false,
      decision_log: {},
      stored_items: {},
      limits: {
        inference_rpm: 1000,
        management_reads_rpm: 300,
        management_writes_rpm: 60,
        concurrent_requests: 200,
        workspace: {},
        max_body_bytes: 33554432,
      },
      web_sockets: {},
      timeouts: {
        ...{ first_byte_ms: 120000, whole_ms: 300000, deadline_ms: 1080000, idle_ms: 120000 },
        ...{ shutdown_ms: 30000, flush_ms: 2000, after_drain_ms: 30000 },
      },
    })
  })

  test('accepts every documented field', () => {
    const file = join(newFolder(), 'all.json')
    const all = {
      host: '0.0.0.0',
      port: 1,
      workers: 4,
      owned_by: 'me',
      storage: {
        url: 'sqlite:x.db',
        durability: 'full',
        pool_size: 5,
        schema: 'gateway',
        migrate: false,
        prepare: false,
        token: 't',
        spool: 'spool',
        on_outage: {
          grace_ms: 60_000,
          per_process_usd: 5,
          per_account_usd: 1,
          per_limited_account_usd: 0.5,
          max_wait_ms: 500,
          processes: 4,
        },
      },
      admin_key: 'ak_12345678',
      sealing_key: '0'.repeat(64),
      workspace: { name: 'mine', credit_usd: 0.5 },
      catalog: 'none',
      providers: [
        { id: 'openai', api_key: 'sk-1' },
        { id: 'amazon-bedrock', access_key_id: 'i', secret_access_key: 's', session_token: 't', region: 'eu-central-1' },
        { id: 'azure', api_key: 'k', resource: 'contoso' },
        { id: 'google-vertex', project: 'p', location: 'global', credentials_file: 'my key.json' },
        { id: 'cloudflare-workers-ai', api_key: 'k', account_id: 'a' },
        { id: 'local', speaks: ['chat', 'messages'], base_url: 'http://127.0.0.1:11434/v1', api_key_env: 'LOCAL_KEY', data_policy: 'zdr' },
      ],
      models: [
        {
          id: 'small',
          aliases: ['s'],
          family: 'small',
          display_name: 'Small',
          author: 'me',
          offers: [
            {
              provider: 'local',
              provider_model_id: 'llama3.2',
              dialect: 'chat',
              context_window: 8192,
              max_output_tokens: 2048,
              price: { input: 0.05, output: 0.1, cached: 0.01, cache_write: 0.05 },
              abilities: ['tools', 'streaming', 'structured_output'],
            },
          ],
        },
      ],
      strategy: 'cost',
      hedge: true,
      max_hedge_cost_usd: 0.5,
      decision_log: { keep: 10, share: 0.5, store: 0 },
      stored_items: { store: true, ttl: 1_000, max_bytes: 2_000, max_total_bytes: 3_000 },
      limits: {
        inference_rpm: 1,
        tokens_per_minute: 6,
        management_reads_rpm: 2,
        management_writes_rpm: 3,
        concurrent_requests: 4,
        workspace: { requests_per_minute: 7, tokens_per_minute: 8, concurrent_requests: 9 },
        max_body_bytes: 5,
        max_upload_bytes_per_workspace: 10,
        max_upload_bytes_per_user: 13,
        max_upload_bytes: 11,
        body_bytes_per_second: 12,
      },
      web_sockets: {
        max_connections_per_workspace: 1,
        max_connections_per_user: 6,
        max_connections: 2,
        max_age_ms: 3,
        max_idle_ms: 4,
        max_message_bytes: 5,
      },
      tls: { ca_file: 'ca.pem', cert_file: 'client.pem', key_file: 'client.key' },
      timeouts: {
        ...{ first_byte_ms: 1, whole_ms: 2, deadline_ms: 3, idle_ms: 4, body_idle_ms: 5, drain_ms: 6 },
        ...{ shutdown_ms: 7, flush_ms: 8, after_drain_ms: 9, keep_alive_timeout_ms: 10, headers_timeout_ms: 11, request_timeout_ms: 12 },
      },
    }
    writeFileSync(file, JSON.stringify(all))
    expect(readConfig({}, { file })).toEqual(all)
  })

  test('is overridden by variables, and an empty variable counts as unset', () => {
    const file = join(newFolder(), 'some.json')
    writeFileSync(file, JSON.stringify({ port: 1, host: '::1', owned_by: 'me' }))
    const read = readConfig({
      SIGNALBOX_CONFIG: file,
      PORT: '9000',
      HOST: ' ',
      SIGNALBOX_WORKERS: 'auto',
      SIGNALBOX_STORAGE: 'memory:',
      SIGNALBOX_ADMIN_KEY: 'ak_12345678',
      SIGNALBOX_SEALING_KEY: 'f'.repeat(64),
    })
    expect(read).toMatchObject({
      port: 9000,
      host: '::1',
      workers: 'auto',
      owned_by: 'me',
      storage: 'memory:',
      admin_key: 'ak_12345678',
      sealing_key: 'f'.repeat(64),
    })
  })

  test('prefers flags to variables', () => {
    expect(readConfig({ SIGNALBOX_WORKERS: '2' }, { flags: { workers: '3' } }).workers).toBe(3)
    expect(readConfig({ SIGNALBOX_WORKERS: '2' }, { flags: { workers: undefined } }).workers).toBe(2)
  })

  test('is the file of --config, then of SIGNALBOX_CONFIG, then the default one', async () => {
    const folder = newFolder()
    const named = (name: string): void => writeFileSync(join(folder, name), JSON.stringify({ owned_by: name, storage: 'memory:' }))
    for (const name of ['a.json', 'b.json', 'signalbox.config.json']) named(name)
    const operatorOf = async (server: Asking): Promise<unknown> => {
      const [model] = ((await (await look(server, '/v1/models')).json()) as { data: { owned_by: string }[] }).data
      return model?.owned_by
    }
    const variables = { SIGNALBOX_CONFIG: 'b.json' }
    expect(await operatorOf(await listening({ folder, args: ['--config', 'a.json'], variables }))).toBe('a.json')
    expect(await operatorOf(await serving({ folder, variables }))).toBe('b.json')
    expect(await operatorOf(await serving({ folder }))).toBe('signalbox.config.json')
  })
})

describe('the first start', () => {
  test('creates the database, its sealing key readable by the owner only, and a key with every scope', async () => {
    const folder = newFolder()
    const server = await listening({ folder })
    expect(server.key).toMatch(/^ak_[0-9A-Za-z]{49}$/)
    expect(existsSync(join(folder, 'signalbox.db'))).toBe(true)
    const sealing = join(folder, 'signalbox.db.key')
    expect(statSync(sealing).mode & 0o777).toBe(0o600)
    expect(readFileSync(sealing, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    const me = (await (await look(server, '/v1/me')).json()) as { scopes: string[]; workspace: { name: string } }
    expect(me.workspace.name).toBe('default')
    expect(me.scopes).toEqual(expect.arrayContaining(['inference:invoke', 'keys:write', 'billing:write', 'audit:read']))
    expect(me.scopes).toHaveLength(19)
    expect(server.err()).not.toContain('Warning')
  })

  test.skipIf(!hasCurl)('prints a curl line that works as printed', async () => {
    const server = await listening()
    const line =
      server
        .out()
        .split('\n')
        .find(text => text.startsWith('curl ')) ?? ''
    const { stdout } = await sh(`${line} --silent --show-error`)
    expect(JSON.parse(stdout)).toMatchObject({ object: 'response', status: 'completed', model: 'sim/echo', output_text: 'Hello' })
  })

  test('listens on the given address, also on every address', async () => {
    const server = await serving({ variables: { HOST: '0.0.0.0', SIGNALBOX_STORAGE: 'memory:' } })
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })
})

describe('the second start', () => {
  test('finds everything again and prints no key', async () => {
    const folder = newFolder()
    const first = await listening({ folder })
    expect((await ask(first, { model: 'sim/echo', input: 'Hello' })).status).toBe(200)
    expect(await stop(first)).toEqual({ code: 0, signal: null })
    const sealing = readFileSync(join(folder, 'signalbox.db.key'), 'utf8')

    const second = await listening({ folder })
    expect(second.key).toBe('')
    expect(second.out()).not.toContain('ak_')
    expect((await ask({ url: second.url, key: first.key }, { model: 'sim/echo', input: 'Hello' })).status).toBe(200)
    expect(readFileSync(join(folder, 'signalbox.db.key'), 'utf8')).toBe(sealing)
    await stop(second)

    rmSync(join(folder, 'signalbox.db.key'))
    expect((await failing({ folder })).err).toContain('its sealing key signalbox.db.key does not')
    const given = await listening({ folder, variables: { SIGNALBOX_SEALING_KEY: sealing.trim() } })
    expect((await look({ url: given.url, key: first.key }, '/v1/me')).status).toBe(200)
  })

  test('completes a first start that was interrupted before it printed its key', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'signalbox.db.key'), 'a'.repeat(64))
    const storage = await openStorage(namedStorage(`sqlite:${join(folder, 'signalbox.db')}`))
    const body = JSON.stringify({ name: 'default', billing: 'prepaid' })
    await storage.records.commit({ puts: [{ kind: 'workspace', workspaceId: 'ws', id: 'ws', version: 0, createdAt: 1, body }] })
    await storage.close()
    const server = await serving({ folder })
    expect(await (await look(server, '/v1/me')).json()).toMatchObject({ workspace: { id: 'ws' } })
    expect((await ask(server, { model: 'sim/echo', input: 'Hello' })).status).toBe(200)
  })

  test('creates no key if one was configured before', async () => {
    const folder = newFolder()
    await (await serving({ folder, variables: { SIGNALBOX_ADMIN_KEY: 'ak_my-own-admin-key' } })).stop()
    expect((await serving({ folder })).out()).not.toContain('ak_')
  })
})

describe('the admin key', () => {
  test.each([
    ['of the config', { config: { admin_key: 'ak_my-own-admin-key' } }],
    ['of the environment', { variables: { SIGNALBOX_ADMIN_KEY: 'ak_my-own-admin-key' } }],
  ])('%s is used, and never printed', async (_, options) => {
    const folder = newFolder()
    for (const start of ['first', 'second']) {
      const server = await serving({ ...options, folder })
      const me = await look({ url: server.url, key: 'ak_my-own-admin-key' }, '/v1/me')
      expect([start, me.status]).toEqual([start, 200])
      expect(server.out() + server.err()).not.toContain('ak_')
      await server.stop()
    }
  })

  test.each([[1], [2]])(
    'that was revoked stays revoked: %i processes start, say so in one line of the log, and refuse the key',
    async workers => {
      const options = { folder: newFolder(), variables: { SIGNALBOX_ADMIN_KEY: 'ak_my-own-admin-key', SIGNALBOX_WORKERS: `${workers}` } }
      const first = await serving(options)
      const revoking = { url: first.url, key: 'ak_my-own-admin-key' }
      const me = (await (await look(revoking, '/v1/me')).json()) as { key_id: string; workspace: { id: string } }
      const path = `/v1/workspaces/${me.workspace.id}/api-keys/${me.key_id}`
      const revoked = await fetch(`${first.url}${path}`, { method: 'DELETE', headers: { authorization: `Bearer ${revoking.key}` } })
      expect(revoked.status).toBe(202)
      await first.stop()
      const second = await serving(options)
      expect((await look({ url: second.url, key: revoking.key }, '/v1/me')).status).toBe(401)
      expect(second.err().match(/`admin_key` was revoked/g)).toHaveLength(1)
    },
  )

  test('is new and printed at every start with memory storage', async () => {
    const folder = newFolder()
    const start = () => serving({ folder, variables: { SIGNALBOX_STORAGE: 'memory:' } })
    const [first, second] = [await start(), await start()]
    expect(first.key).not.toBe('')
    expect(second.key).not.toBe('')
    expect(second.key).not.toBe(first.key)
    expect(existsSync(join(folder, 'signalbox.db'))).toBe(false)
  })
})

describe('the command', () => {
  test('prints its help and its version', async () => {
    const help = launch({ args: ['--help'] })
    expect(await help.exited).toEqual({ code: 0, signal: null })
    expect(help.out()).toContain('--config FILE')
    const version = launch({ args: ['--version'] })
    expect(await version.exited).toEqual({ code: 0, signal: null })
    expect(version.out()).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
