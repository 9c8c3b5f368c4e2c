import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { refused, type StartOptions } from './in-process.ts'
import { failing } from './launch.ts'

const local = { id: 'local', base_url: 'http://127.0.0.1:9/v1' }
const offer = { provider: 'local', provider_model_id: 'm', dialect: 'chat' }
const model = { id: 'small', offers: [offer] }
const withOffer = (changes: object): unknown => ({ providers: [local], models: [{ id: 'small', offers: [{ ...offer, ...changes }] }] })

const storages =
  '`memory:`, `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`, `libsql://HOST`, or an object of url, durability, pool_size, schema, migrate, prepare, token, spool, on_outage'

/** The fault, the config, and the line of the error. */
const faults: readonly (readonly [trouble: string, config: unknown, line: string])[] = [
  [
    'an unknown field',
    { prot: 1 },
    '`prot` is not a known field; known fields are host, port, workers, owned_by, cors_origins, storage, redis, admin_key, sealing_key, workspace, catalog, providers, tls, models, strategy, hedge, max_hedge_cost_usd, decision_log, stored_items, limits, web_sockets, timeouts, $schema.',
  ],
  ['the old name of a field', { operator: 'me' }, '`operator` is not a known field; it is `owned_by` now.'],
  [
    'the old name of a field of a section',
    { limits: { body_bytes: 5 } },
    '`limits.body_bytes` is not a known field; it is `max_body_bytes` now.',
  ],
  [
    'an unknown field of a section',
    { limits: { rpm: 1 } },
    '`limits.rpm` is not a known field; `limits` takes inference_rpm, tokens_per_minute, management_reads_rpm, management_writes_rpm, concurrent_requests, workspace, max_body_bytes, max_upload_bytes_per_workspace, max_upload_bytes_per_user, max_upload_bytes, body_bytes_per_second.',
  ],
  [
    'an unknown field of a provider',
    { providers: [{ ...local, apikey: 'sk-secret-secret' }] },
    '`providers[0].apikey` is not a known field; `providers[0]` takes id, speaks, base_url, api_key, api_key_env, region, access_key_id, secret_access_key, session_token, resource, project, location, credentials_file, account_id, workspace, data_policy, provider_storage, unpriced_tools.',
  ],
  ['a wrong port', { port: 99_999 }, '`port` is 99999; it takes a whole number from 0 to 65535.'],
  ['a port as text', { port: '80' }, '`port` is "80"; it takes a whole number from 0 to 65535.'],
  [
    'a wrong time to stop',
    { timeouts: { shutdown_ms: -1 } },
    '`timeouts.shutdown_ms` is -1; it takes a whole number from 0 to 2147483647.',
  ],
  [
    'a wrong maximum of a hedge',
    { max_hedge_cost_usd: '1' },
    '`max_hedge_cost_usd` is "1"; it takes US dollars from 0 to 1000000, with at most 6 decimals.',
  ],
  [
    'a client certificate without its key',
    { tls: { cert_file: 'x.pem' } },
    '`tls.cert_file` and `tls.key_file` belong together: set both, or neither.',
  ],
  ['a missing file of an authority', { tls: { ca_file: 'nowhere.pem' } }, '`tls.ca_file` is "nowhere.pem", which cannot be read (ENOENT).'],
  ['no workers', { workers: 0 }, '`workers` is 0; it takes `auto`, or a whole number from 1 to 128.'],
  ['a wrong host', { host: 'a b' }, '`host` is "a b"; it takes a host name or an IP address.'],
  ['a wrong owner', { owned_by: '' }, '`owned_by` is ""; it takes a string of 1 to 255 characters.'],
  ['an unknown storage', { storage: 'mysql://x' }, `\`storage\` is "mysql://x"; it takes ${storages}.`],
  ['a storage without a file', { storage: 'sqlite:' }, `\`storage\` is "sqlite:"; it takes ${storages}.`],
  [
    'a storage without an address',
    { storage: { durability: 'full' } },
    '`storage.url` is missing; it takes `memory:`, `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`, `libsql://HOST`.',
  ],
  [
    'a wrong option of a storage',
    { storage: { url: 'sqlite:x.db', durability: 'some' } },
    '`storage.durability` is "some"; it takes one of process, full.',
  ],
  [
    'an option of other storages',
    { storage: { url: 'sqlite:x.db', pool_size: 5 } },
    '`storage.pool_size` is for other storages; `sqlite:FILE` takes durability.',
  ],
  [
    'a wrong policy for outages',
    { storage: { url: 'postgres://db/x', on_outage: 'go' } },
    '`storage.on_outage` is "go"; it takes `stop`, `continue`, or an object of grace_ms, per_process_usd, per_account_usd, per_limited_account_usd, max_wait_ms, processes.',
  ],
  [
    'a policy for outages of a storage that has none',
    { storage: { url: 'sqlite:x.db', on_outage: 'continue' } },
    '`storage.on_outage` is for other storages; `sqlite:FILE` takes durability.',
  ],
  [
    'a database of many machines without a sealing key',
    { storage: 'postgres://me:secret@db/x' },
    '`sealing_key` (SIGNALBOX_SEALING_KEY) is missing: every process that uses postgres://…@db/x needs the same one. Create a key with `openssl rand -hex 32`, and keep it as long as the database.',
  ],
  [
    'a wrong Redis address',
    { redis: '127.0.0.1' },
    '`redis` is "127.0.0.1"; it takes `redis://USER:PASSWORD@HOST:6379`, or `rediss://` for TLS, or an object of url, prefix, max_wait_ms, fallback.',
  ],
  [
    'a wrong option of Redis',
    { redis: { url: 'redis://h', fallback: 'none' } },
    '`redis.fallback` is "none"; it takes one of storage, local.',
  ],
  [
    'an admin key of another form',
    { admin_key: 'secret-secret' },
    '`admin_key` is a string of 13 characters; it takes `ak_` and 8 to 200 visible ASCII characters without a comma.',
  ],
  [
    'a sealing key of zeros',
    { sealing_key: '0'.repeat(64) },
    '`sealing_key` (SIGNALBOX_SEALING_KEY) is all zeros, which is easy to guess. Create a key with `openssl rand -hex 32`.',
  ],
  [
    'an origin with a path',
    { cors_origins: ['https://app.example', 'https://app.example/path'] },
    '`cors_origins[1]` is "https://app.example/path"; it takes an origin, as in https://app.example.',
  ],
  ['a short sealing key', { sealing_key: 'abcd' }, '`sealing_key` is a string of 4 characters; it takes 64 hex digits.'],
  [
    'negative credit',
    { workspace: { credit_usd: -1 } },
    '`workspace.credit_usd` is -1; it takes US dollars from 0 to 1000000000, with at most 6 decimals.',
  ],
  ['a workspace that is none', { workspace: 'mine' }, '`workspace` is "mine"; it takes an object of name, credit_usd.'],
  ['an unknown catalog', { catalog: 'all' }, '`catalog` is "all"; it takes `built-in`, `none`, or an object of file, overrides.'],
  [
    'an unknown field of a catalog of one’s own',
    { catalog: { path: 'x' } },
    '`catalog.path` is not a known field; `catalog` takes file, overrides.',
  ],
  ['overrides that are none', { catalog: { overrides: [] } }, '`catalog.overrides` is a list; it takes an object.'],
  [
    'a name that the catalog does not have',
    { catalog: { overrides: { models: { 'gpt-6-soul': null } } } },
    '`catalog.overrides`: `models.gpt-6-soul` names no model; did you mean "gpt-6-sol"?',
  ],
  [
    'an override in dollars',
    { catalog: { overrides: { offers: { openai: { 'gpt-6-sol': { price: { input: 0.5, output: 1 } } } } } } },
    '`catalog.overrides`: `offers.openai.gpt-6-sol.price.input` is 0.5; it takes whole microdollars per million tokens (2.50 USD is 2500000), 0 or more.',
  ],
  ['a catalog that is not there', { catalog: { file: 'nowhere.json' } }, 'The catalog file nowhere.json cannot be read (ENOENT).'],
  ['providers that are no list', { providers: {} }, '`providers` is an object; it takes a list.'],
  ['a provider without an id', { providers: [{}] }, '`providers[0].id` is missing; it takes 1 to 64 letters, digits, `-`, `_` and `.`.'],
  ['two providers of one id', { providers: [local, local] }, '`providers[1].id` is "local"; it takes an id that no other provider has.'],
  [
    'a provider without an address',
    { providers: [{ id: 'mine' }] },
    '`providers[0].base_url` is missing; it takes a URL, because "mine" is not built in.',
  ],
  [
    'an address that is none',
    { providers: [{ id: 'mine', base_url: 'localhost' }] },
    '`providers[0].base_url` is "localhost"; it takes an http or https address, as in https://api.example.com/v1.',
  ],
  [
    'an unknown dialect',
    { providers: [{ ...local, speaks: ['latin'] }] },
    '`providers[0].speaks[0]` is "latin"; it takes one of responses, chat, messages, gemini, bedrock.',
  ],
  [
    'a dialect that a built-in provider does not speak',
    { providers: [{ id: 'groq', api_key: 'k', speaks: ['chat', 'messages'] }] },
    '`providers[0].speaks[1]` is "messages"; it takes a dialect of "groq": chat, responses.',
  ],
  [
    'a place of another provider',
    { providers: [{ id: 'groq', api_key: 'k', region: 'eu-west-1' }] },
    '`providers[0].region` is for other providers; "groq" takes api_key, base_url.',
  ],
  [
    'a place of a provider that nobody knows',
    { providers: [{ ...local, region: 'eu-west-1' }] },
    '`providers[0].region` is for other providers; "local" takes speaks, base_url, api_key.',
  ],
  [
    'a place that is none',
    { providers: [{ id: 'cloudflare-workers-ai', api_key: 'k', account_id: 'a b' }] },
    '`providers[0].account_id` is "a b"; it takes 1 to 128 letters, digits, `-`, `_`, `.` and `:`.',
  ],
  [
    'half of what a provider needs',
    { providers: [{ id: 'cloudflare-workers-ai', api_key: 'k' }] },
    '`providers[0].account_id` is missing; it takes the account id of "cloudflare-workers-ai", which may also be in CLOUDFLARE_ACCOUNT_ID.',
  ],
  [
    'a built-in provider without a key',
    { providers: [{ id: 'groq' }] },
    '`providers[0].api_key` is missing; it takes the key of "groq", which may also be in GROQ_API_KEY.',
  ],
  [
    'a key of a variable that is not set',
    { providers: [{ ...local, api_key_env: 'LOCAL_KEY' }] },
    '`providers[0].api_key_env` is "LOCAL_KEY", and no such variable is set.',
  ],
  [
    'two keys',
    { providers: [{ ...local, api_key: 'a', api_key_env: 'B' }] },
    '`providers[0]` has `api_key` and `api_key_env`; it takes one of them.',
  ],
  [
    'a key that no header can carry',
    { providers: [{ ...local, api_key: 'sk secret' }] },
    '`providers[0].api_key` is a string of 9 characters; it takes a string of visible ASCII characters without spaces, or a list of them.',
  ],
  [
    'an unknown data policy',
    { providers: [{ ...local, data_policy: 'none' }] },
    '`providers[0].data_policy` is "none"; it takes one of zdr, no_training, may_train, unknown.',
  ],
  [
    'a model without offers',
    { providers: [local], models: [{ id: 'small', offers: [] }] },
    '`models[0].offers` is "empty"; it takes a list of at least one offer.',
  ],
  [
    'two models of one name',
    { providers: [local], models: [model, { ...model, id: 'big', aliases: ['small'] }] },
    '`models[1].aliases[0]` is "small"; it takes a name that no other model has.',
  ],
  [
    'an offer of nobody',
    withOffer({ provider: 'locl' }),
    '`models[0].offers[0].provider` is "locl"; it takes the id of an enabled provider (local): list the provider under `providers` or set its key.',
  ],
  [
    'an offer in a dialect that its provider does not speak',
    withOffer({ dialect: 'responses' }),
    '`models[0].offers[0].dialect` is "responses"; it takes a dialect of "local": chat.',
  ],
  [
    'a price without its other half',
    withOffer({ price: { input: 1 } }),
    '`models[0].offers[0].price.output` is missing; it takes US dollars per million tokens from 0 to 1000000, with at most 6 decimals.',
  ],
  [
    'a price that would be rounded away',
    withOffer({ price: { input: 1e-7, output: 1 } }),
    '`models[0].offers[0].price.input` is 1e-7; it takes US dollars per million tokens from 0 to 1000000, with at most 6 decimals.',
  ],
  [
    'an unknown ability',
    withOffer({ abilities: ['tools', 'flying'] }),
    '`models[0].offers[0].abilities[1]` is "flying"; it takes one of tools, tool_choice_required, parallel_tools, vision, json_mode, structured_output, reasoning, streaming, logprobs, web_search, computer_use, code_interpreter, prompt_caching.',
  ],
  ['a window of zero', withOffer({ context_window: 0 }), '`models[0].offers[0].context_window` is 0; it takes a whole number, 1 or more.'],
  [
    'a decision log that is a word',
    { decision_log: 'all' },
    '`decision_log` is "all"; it takes `false`, or an object of keep, share, store.',
  ],
  ['a share beyond all', { decision_log: { store: 2 } }, '`decision_log.store` is 2; it takes a number from 0 to 1.'],
  [
    'items that are a word',
    { stored_items: 'all' },
    '`stored_items` is "all"; it takes `false`, or an object of store, ttl, max_bytes, max_total_bytes.',
  ],
  ['items for no time', { stored_items: { ttl: 0 } }, '`stored_items.ttl` is 0; it takes a whole number, 1 or more.'],
  [
    'an unknown field of the decision log',
    { decision_log: { stored: 1 } },
    '`decision_log.stored` is not a known field; `decision_log` takes keep, share, store.',
  ],
  [
    'an unknown strategy',
    { strategy: 'luck' },
    '`strategy` is "luck"; it takes one of order, cost, latency, throughput, availability, balanced.',
  ],
  [
    'a limit that is no number',
    { limits: { inference_rpm: 'many' } },
    '`limits.inference_rpm` is "many"; it takes a whole number, 1 or more.',
  ],
  ['a time-out of zero', { timeouts: { first_byte_ms: 0 } }, '`timeouts.first_byte_ms` is 0; it takes a whole number, 1 or more.'],
]

/** Known by the whole config, so their line does not name the file. */
const fromFile = /^`[^`]*` (?:is not a known field|is .*; it takes)/
const acrossFields =
  /for other storages|is missing: every process|that no other|because "|, which may also be in |an enabled provider|a dialect of "|at least one/

const unreadable: typeof faults = [
  ['a brace too few', '{ "port": 1', 'signalbox.config.json is not valid JSON: line 1 column 12.'],
  [
    'a key without quotes, which is not repeated',
    '{"admin_key": ak_secretsecret}',
    "signalbox.config.json is not valid JSON: Unexpected token 'a'.",
  ],
  ['a list', '[]', 'signalbox.config.json contains a list; it takes one JSON object.'],
]

const badVariables: readonly (readonly [variable: string, variables: Readonly<Record<string, string>>, line: string])[] = [
  ['PORT', { PORT: 'abc' }, '`PORT` is "abc"; it takes a whole number from 0 to 65535.'],
  ['SIGNALBOX_STORAGE', { SIGNALBOX_STORAGE: 'disk' }, `\`SIGNALBOX_STORAGE\` is "disk"; it takes ${storages}.`],
  [
    'SIGNALBOX_REDIS',
    { SIGNALBOX_REDIS: 'rediss//:pw@h' },
    '`SIGNALBOX_REDIS` is "rediss//…@h"; it takes `redis://USER:PASSWORD@HOST:6379`, or `rediss://` for TLS, or an object of url, prefix, max_wait_ms, fallback.',
  ],
  [
    'SIGNALBOX_ADMIN_KEY',
    { SIGNALBOX_ADMIN_KEY: 'hunter22hunter22' },
    '`SIGNALBOX_ADMIN_KEY` is a string of 16 characters; it takes `ak_` and 8 to 200 visible ASCII characters without a comma.',
  ],
  [
    'SIGNALBOX_SEALING_KEY',
    { SIGNALBOX_SEALING_KEY: 'xyz' },
    '`SIGNALBOX_SEALING_KEY` is a string of 3 characters; it takes 64 hex digits.',
  ],
  [
    'a key of a provider',
    { GROQ_API_KEY: 'gsk two' },
    'GROQ_API_KEY is not a valid header value; it takes visible ASCII characters without spaces.',
  ],
  ...[
    'OPENAI_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'AZURE_RESOURCE_NAME',
    'OLLAMA_HOST',
    'SIGNALBOX_STORAGE',
    'SIGNALBOX_SEALING_KEY',
    'SIGNALBOX_ADMIN_KEY',
  ].map(
    variable =>
      [
        `${variable} in quotes, as docker --env-file keeps them`,
        { [variable]: '"hunter22"' },
        `${variable} begins and ends with a quotation mark, which is a part of the value. Remove both: \`docker --env-file\`, for one, keeps them.`,
      ] as const,
  ),
  ['SIGNALBOX_CONFIG', { SIGNALBOX_CONFIG: 'nowhere.json' }, 'The config file nowhere.json cannot be read (ENOENT).'],
]

/** The start, and the line in which it ends. */
const refusals: readonly (readonly [what: string, start: StartOptions, line: string])[] = [
  ...faults.map(([trouble, config, line]) => {
    const file = fromFile.test(line) && !acrossFields.test(line) ? 'signalbox.config.json: ' : ''
    // PORT would hide a wrong port.
    const variables: Readonly<Record<string, string>> = Object.hasOwn(Object(config), 'port') ? { PORT: '' } : {}
    return [trouble, { config, variables }, `${file}${line}`] as const
  }),
  ...unreadable.map(([trouble, config, line]) => [`JSON with ${trouble}`, { config }, line] as const),
  ...badVariables.map(([variable, variables, line]) => [`the variable ${variable}`, { variables }, line] as const),
]
/** The usual run starts a process for some of them, the long run for all. */
const ofProcesses = refusals.filter((_, at) => inject('isLongRun') || at % 30 === 0)

describe('a start with an invalid option ends with one line that names the field, its value and the expected type:', () => {
  test.each(refusals)('%s', async (_, start, line) => {
    expect(await refused(start)).toEqual({ line, files: start.config === undefined ? [] : ['signalbox.config.json'] })
  })

  test.concurrent.each(ofProcesses)('%s, in a process that exits with 1', async (_, start, line) => {
    const { code, out, err } = await failing(start)
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: `signalbox: ${line}\n` })
  })

  test('an unknown option', async () => {
    const { code, err } = await failing({ args: ['--prot', '1'] })
    expect(code).toBe(1)
    expect(err).toMatch(/^signalbox: Unknown option '--prot'.* Try --help\.\n$/)
  })
})

describe('a custom catalog that cannot be read ends a start with one line:', () => {
  test.concurrent.each([
    ['no JSON', '{', /^signalbox: The catalog file own\.json is not valid JSON: .+\n$/],
    [
      'no catalog',
      '{"as_of":"2026-09-30","models":[{"id":"m"}],"providers":[]}',
      /own\.json: `models\[0\]\.offers` is missing; it takes a list\.\n$/,
    ],
  ])('%s', async (_, text, line) => {
    const { code, err } = await failing({
      config: { catalog: { file: 'own.json' } },
      prepare: folder => writeFileSync(join(folder, 'own.json'), text),
    })
    expect(err).toMatch(line)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(1)
  })
})

describe('a start that lacks a resource names it, and leaves nothing behind:', () => {
  test('a port in use', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, out, err, files } = await failing({ variables: { PORT: String(port) } })
    other.close()
    expect(err).toBe(`signalbox: Port ${port} on 127.0.0.1 is in use; stop the other program, or set another \`port\` (PORT).\n`)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(files).toEqual([])
  })

  test('the address of another machine', async () => {
    const { line } = await refused({ variables: { HOST: '192.0.2.1' } })
    expect(line).toBe('Port 0 on 192.0.2.1 is not an address of this machine; set `host` (HOST) to an address of this machine.')
  })

  test('a missing folder', async () => {
    expect(await refused({ variables: { SIGNALBOX_STORAGE: 'sqlite:nowhere/x.db' } })).toEqual({
      line: 'The sealing key nowhere/x.db.key cannot be written (ENOENT). Check that its folder exists and can be written.',
      files: [],
    })
  })

  test('a database that is a folder', async () => {
    const { code, err, files } = await failing({
      prepare: folder => mkdirSync(join(folder, 'signalbox.db')),
      variables: { SIGNALBOX_SEALING_KEY: 'a'.repeat(64) },
    })
    expect(err).toMatch(/^signalbox: The storage is not available: cannot open `signalbox\.db`: .+\n$/)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(1)
    expect(files).toEqual(['signalbox.db'])
  })

  test('a file that is not a database', async () => {
    const { code, err, files } = await failing({
      prepare: folder => writeFileSync(join(folder, 'signalbox.db'), 'not a database, but long enough to be read as one'.repeat(20)),
      variables: { SIGNALBOX_SEALING_KEY: 'a'.repeat(64) },
    })
    expect(err).toMatch(/^signalbox: The storage is not available: cannot open `signalbox\.db`: file is not a database.*\n$/)
    expect(code).toBe(1)
    expect(files).toEqual(['signalbox.db'])
  })

  test('a database whose sealing key is missing', async () => {
    expect(await refused({ prepare: folder => writeFileSync(join(folder, 'signalbox.db'), 'x') })).toEqual({
      line: 'signalbox.db exists, but its sealing key signalbox.db.key does not. Restore the file, or set `sealing_key` (SIGNALBOX_SEALING_KEY): another key cannot open the sealed data.',
      files: ['signalbox.db'],
    })
  })

  test('a damaged sealing key', async () => {
    expect(await refused({ prepare: folder => writeFileSync(join(folder, 'signalbox.db.key'), 'oops') })).toEqual({
      line: 'The sealing key signalbox.db.key is damaged: it must have 64 hex digits, and has 4 characters.',
      files: ['signalbox.db.key'],
    })
  })
})
