import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { serving } from './in-process.ts'
import { type Asking, ask, listening, look, newFolder, stop } from './launch.ts'
import { upstream } from './upstream.ts'

interface Answer {
  readonly status: string
  readonly model: string
  readonly output_text: string
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
  readonly routing_metadata: { readonly provider: string; readonly routing_strategy: string; readonly cost: { readonly usd: number } }
}

const answer = async (server: Asking, body: object): Promise<Answer> => (await ask(server, body)).json() as Promise<Answer>
const memory = { SIGNALBOX_STORAGE: 'memory:' }

interface ModelList {
  readonly data: readonly {
    readonly id: string
    readonly owned_by: string
    readonly providers: readonly {
      readonly name: string
      readonly input_price?: number
      readonly output_price?: number
      readonly data_policy?: string
    }[]
  }[]
}
const modelsAt = async (server: Asking): Promise<ModelList['data']> => ((await (await look(server, '/v1/models')).json()) as ModelList).data

describe('without a provider', () => {
  test('the first start prints the address, the key and one request to try, and nothing else', async () => {
    const server = await listening({ variables: memory })
    const { out, err, url, key } = server
    const request = `curl ${url}/v1/responses -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"model":"sim/echo","input":"Hello"}'`
    expect(out()).toMatch(/^Signalbox \d+\.\d+\.\d+ listens on /)
    expect(out().split('\n').slice(1)).toEqual(['', `Admin key, shown this once: ${key}`, '', request, '', ''])
    expect(err()).toBe('')
    expect((await modelsAt(server)).map(({ id }) => id)).toEqual(['sim/echo', 'sim/story'])
  })

  test('a start with a known key says that providers are simulated', async () => {
    const server = await serving({ variables: { ...memory, SIGNALBOX_ADMIN_KEY: 'ak_my-own-admin-key' } })
    expect(server.out()).toContain('No provider is enabled, so simulated ones respond')
  })

  test('every second call of the flaky one fails, and another responds: it shows in the reply, in its cost and in the log', async () => {
    const server = await serving({ variables: memory })
    const first = await answer(server, { model: 'sim/story', input: 'a story' })
    const second = await answer(server, { model: 'sim/story', input: 'a story' })
    expect(first.routing_metadata).toMatchObject({ provider: 'sim-flaky', routing_strategy: 'balanced' })
    expect(second.routing_metadata.provider).not.toBe('sim-flaky')
    expect(second.usage).toEqual(first.usage)
    expect(second.routing_metadata.cost.usd).toBeGreaterThan(first.routing_metadata.cost.usd)
    await server.logged(2)
    expect(server.lines().map(({ provider, cost_usd }) => [provider, cost_usd])).toEqual(
      [first, second].map(({ routing_metadata: { provider, cost } }) => [provider, cost.usd]),
    )
  })

  test('another strategy orders them differently', async () => {
    const server = await serving({ config: { strategy: 'order', storage: 'memory:' } })
    const { routing_metadata } = await answer(server, { model: 'sim/echo', input: 'x' })
    expect(routing_metadata).toMatchObject({ provider: 'sim-cheap', routing_strategy: 'order' })
  })

  test('the simulated ones stream word by word', async () => {
    const server = await serving({ variables: memory })
    const text = await (await ask(server, { model: 'sim/echo', input: 'one two three', stream: true })).text()
    const deltas = [...text.matchAll(/^data: (\{.*"response\.output_text\.delta".*)$/gm)].map(([, data = '']) => JSON.parse(data).delta)
    expect(deltas.join('')).toBe('one two three')
    expect(deltas.length).toBeGreaterThan(1)
    expect(text).toContain('response.completed')
  })
})

describe('with providers', () => {
  test('a key in the environment enables a built-in one and its models', async () => {
    const server = await serving({ variables: { ...memory, GROQ_API_KEY: 'gsk_secret' } })
    expect(server.out()).toContain('providers: groq\n')
    expect(server.out()).not.toContain('gsk_secret')
    const models = await modelsAt(server)
    expect(models.length).toBeGreaterThan(2)
    expect(new Set(models.flatMap(({ providers }) => providers.map(({ name }) => name)))).toEqual(new Set(['groq']))
    expect(models[0]?.providers[0]).toMatchObject({ data_policy: 'zdr', input_price: expect.any(Number) })
  })

  test('keys for every dialect enable providers and models of each', async () => {
    const keys = {
      ANTHROPIC_API_KEY: 'sk-ant-secret',
      GEMINI_API_KEY: 'AIza-secret',
      AWS_BEARER_TOKEN_BEDROCK: 'bedrock-secret',
      AWS_REGION: 'us-east-1',
    }
    const server = await serving({ variables: { ...memory, ...keys } })
    expect(server.out()).toContain('providers: anthropic, google, amazon-bedrock\n')
    expect(server.out()).not.toContain('secret')
    const ids = (await modelsAt(server)).map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['claude-opus-5', 'gemini-3.8-flash', 'nova-pro']))
  })

  test('an incomplete setting is named, and the start continues', async () => {
    const server = await serving({ variables: { ...memory, AZURE_API_KEY: 'x' } })
    expect(server.out()).toContain('azure stays disabled: AZURE_API_KEY is set, but AZURE_RESOURCE_NAME is not.')
    expect((await modelsAt(server)).map(({ id }) => id)).toContain('sim/echo')
  })

  test('a config brings its own provider, key, model and price', async () => {
    const { baseURL, calls } = await upstream()
    const server = await serving({
      variables: { LOCAL_KEY: 'local-secret-key', OPENAI_API_KEY: 'sk-openai' },
      config: {
        storage: 'memory:',
        owned_by: 'me',
        catalog: 'none',
        providers: [{ id: 'local', base_url: baseURL, api_key_env: 'LOCAL_KEY', data_policy: 'zdr' }],
        models: [
          {
            id: 'small',
            aliases: ['s'],
            offers: [{ provider: 'local', provider_model_id: 'llama3.2', dialect: 'chat', price: { input: 0.05, output: 0.1 } }],
          },
        ],
      },
    })
    expect(server.out()).toContain('providers: local, openai\nmodels:    small\n')
    expect(await modelsAt(server)).toMatchObject([
      { id: 'small', owned_by: 'me', providers: [{ name: 'local', input_price: 0.05, output_price: 0.1, data_policy: 'zdr' }] },
    ])
    const reply = await answer(server, { model: 's', input: 'Hello' })
    expect(reply).toMatchObject({ model: 'small', output_text: 'the answer' })
    // 1,000 tokens in at 0.05 and 2,000 out at 0.10 USD per million.
    expect(reply.routing_metadata.cost.usd).toBe(0.00025)
    expect(calls).toMatchObject([
      { path: '/v1/chat/completions', headers: { authorization: 'Bearer local-secret-key' }, body: { model: 'llama3.2' } },
    ])
  })

  test('a model of the config wins over one of the catalog by the same name', async () => {
    const offers = [{ provider: 'openai', provider_model_id: 'gpt-mine', dialect: 'chat', price: { input: 1, output: 1 } }]
    const server = await serving({
      variables: { ...memory, OPENAI_API_KEY: 'sk-openai' },
      config: {
        models: [
          { id: 'mine', aliases: ['openai/gpt-6.1-sol'], offers },
          { id: 'gpt-6-sol', offers },
        ],
      },
    })
    const find = async (name: string): Promise<unknown> => look(server, `/v1/models/${name}`).then(reply => reply.json())
    expect(await find('openai/gpt-6.1-sol')).toMatchObject({ id: 'mine' })
    expect(await find('gpt-6.1-sol')).toMatchObject({ id: 'gpt-6.1-sol' })
    expect(await find('gpt-6-sol')).toMatchObject({ providers: [{ input_price: 1 }] })
  })

  test('an offer without a price is reported and not routed', async () => {
    const server = await serving({
      variables: memory,
      config: {
        providers: [{ id: 'ollama' }],
        models: [{ id: 'small', offers: [{ provider: 'ollama', provider_model_id: 'llama3.2', dialect: 'chat' }] }],
      },
    })
    expect(server.out()).toContain('small has no price at ollama and is not routed there; set `price` on the offer, 0 if it is free.')
  })
})

describe('limits and credit', () => {
  test('are set by the config', async () => {
    const server = await serving({
      config: {
        storage: 'memory:',
        workspace: { name: 'mine', credit_usd: 0 },
        limits: { inference_rpm: 7, management_reads_rpm: 8, management_writes_rpm: 9, max_body_bytes: 1_000 },
      },
    })
    expect(await (await look(server, '/v1/me')).json()).toMatchObject({
      workspace: { name: 'mine' },
      rate_limits: { inference_rpm: 7, management_reads_rpm: 8, management_writes_rpm: 9 },
    })
    expect((await ask(server, { model: 'sim/echo', input: 'x'.repeat(1_001) })).status).toBe(413)
    expect((await ask(server, { model: 'sim/echo', input: 'x' })).status).toBe(402)
  })

  test('of uploads are set by the config too: a slow one is aborted, and a key has a limit of concurrent bytes', async () => {
    const server = await serving({
      config: {
        storage: 'memory:',
        limits: { max_body_bytes: 1_000_000, max_upload_bytes_per_workspace: 1_200_000 },
        timeouts: { body_idle_ms: 1_000 },
      },
    })
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    let text = ''
    socket.on('data', piece => (text += piece)).on('error', () => {})
    socket.write(`POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.key}\r\ncontent-length: 900000\r\n\r\n{`)
    const beside: number[] = []
    while (text === '') beside.push((await ask(server, { model: 'sim/echo', input: 'x'.repeat(500_000) })).status)
    expect(beside).toContain(429)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    socket.destroy()
  })

  test('credit is given once, however often the server starts', async () => {
    const folder = newFolder()
    // Enough for one hold of this request, and not for the next once it is spent.
    const config = { workspace: { credit_usd: 0.00001 }, providers: [], strategy: 'cost' }
    const body = { model: 'sim/echo', input: 'Hello', max_output_tokens: 1 }
    const first = await listening({ folder, config })
    const paid: number[] = []
    while (paid.length < 20 && paid.at(-1) !== 402) paid.push((await ask(first, body)).status)
    expect(paid.at(-1)).toBe(402)
    await stop(first)
    const second = await listening({ folder, config })
    expect((await ask({ url: second.url, key: first.key }, body)).status).toBe(402)
  })
})

describe('the log', () => {
  test('has one line of JSON per request with caller, outcome and cost, never a secret, prompt or response', async () => {
    const { baseURL } = await upstream()
    const server = await listening({
      config: {
        storage: 'memory:',
        catalog: 'none',
        providers: [{ id: 'local', base_url: baseURL, api_key: 'sk-provider-secret' }],
        models: [{ id: 'small', offers: [{ provider: 'local', provider_model_id: 'm', dialect: 'chat', price: { input: 1, output: 1 } }] }],
      },
    })
    const reply = await ask(server, { model: 'small', input: 'my private prompt', instructions: 'my private rules' })
    expect(reply.status).toBe(200)
    await ask({ url: server.url, key: 'ak_wrong-wrong-wrong' }, { model: 'small', input: 'my private prompt' })
    await ask(server, { model: 'ak_pasted-in-the-wrong-field', input: 'my private prompt' })
    await fetch(`${server.url}/nowhere?secret=my-query`)
    await server.logged(4)
    const [good, stranger, , nowhere] = server.lines()
    expect(good).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      level: 'info',
      request_id: reply.headers.get('x-request-id'),
      method: 'POST',
      route: '/v1/responses',
      status: 200,
      ms: expect.any(Number),
      key_id: expect.any(String),
      workspace_id: expect.any(String),
      model: 'small',
      provider: 'local',
      input_tokens: 1_000,
      output_tokens: 2_000,
      cost_usd: 0.003,
    })
    expect(stranger).toMatchObject({ route: '/v1/responses', status: 401, code: 'invalid_api_key' })
    expect(nowhere).toMatchObject({ route: 'unmatched', path: expect.stringMatching(/^\/[^?]*$/), status: 404 })
    expect(server.err().trim().split('\n')).toHaveLength(4)
    expect(server.err()).not.toMatch(/private|the answer|sk-provider|ak_(?!…)|my-query/)
    expect(server.err()).not.toContain(server.key)
  })
})

describe('`cors_origins`', () => {
  const allowed = async (config: object, origin: string) => {
    const { url } = await serving({ config: { storage: 'memory:', ...config } })
    const { headers } = await fetch(`${url}/healthz`, { headers: { origin } })
    return headers.get('access-control-allow-origin')
  }

  test('allows pages of these origins to read replies, and no others', async () => {
    const config = { cors_origins: ['https://app.example'] }
    expect(await allowed(config, 'https://app.example')).toBe('https://app.example')
    expect(await allowed(config, 'https://evil.example')).toBeNull()
    expect(await allowed({}, 'https://app.example')).toBeNull()
  })

  test.each<[unknown, string]>([
    [[], 'a list of origins'],
    [['app.example'], '`cors_origins[0]`'],
    [['https://app.example/path'], '`cors_origins[0]`'],
    ['https://app.example', 'a list of origins'],
  ])('%j is an invalid config', async (cors_origins, named) => {
    await expect(serving({ config: { storage: 'memory:', cors_origins } })).rejects.toThrow(named)
  })
})
