import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { webTransport } from '@signalbox/core/runtime'
import type { AuthorizationContext, Credential, InferenceRequest, Transport } from '@signalbox/dialects/protocol'
import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { authorizing } from '../test/calling.ts'
import { googleVertex, type VertexOptions } from './google-vertex.ts'

const keys = await generateKeyPair('RS256', { extractable: true })
const serviceAccount = {
  client_email: 'robot@project-of-key.iam.gserviceaccount.com',
  private_key: await exportPKCS8(keys.privateKey),
  private_key_id: 'key-1',
  project_id: 'project-of-key',
}
const secret = JSON.stringify({ type: 'service_account', ...serviceAccount })
const byok = (extra: Credential['extra'], text = secret): Credential => ({
  id: 'byok',
  owner: 'workspace',
  secret: text,
  ...(extra && { extra }),
})

/** A local server in place of Google's token endpoint. */
interface TokenRequest {
  readonly path: string
  readonly type: string | undefined
  readonly form: URLSearchParams
}
let tokenRequests: TokenRequest[] = []
let answer: (request: TokenRequest) => { readonly status: number; readonly body: string } = () => ({ status: 500, body: '' })
let hold: Promise<void> | undefined
const read = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}
const server = createServer(async (request, response) => {
  const seen = { path: request.url ?? '', type: request.headers['content-type'], form: new URLSearchParams(await read(request)) }
  tokenRequests.push(seen)
  await hold
  const { status, body } = answer(seen)
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
})
beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve())))
afterAll(() => new Promise<void>(resolve => server.close(() => resolve())))
afterEach(() => {
  tokenRequests = []
  hold = undefined
})

const tokens = (expires_in = 3600) => {
  let count = 0
  answer = () => ({ status: 200, body: JSON.stringify({ access_token: `ya29.${++count}`, expires_in, token_type: 'Bearer' }) })
}

const reached: string[] = []
const transport: Transport = request => {
  const url = new URL(request.url)
  reached.push(url.origin)
  return webTransport()({ ...request, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${url.pathname}` })
}
const start = Date.parse('2026-11-21T10:00:00Z')
const calling = (more: Partial<AuthorizationContext> = {}): AuthorizationContext => ({
  ...authorizing('gemini'),
  transport,
  now: start,
  monotonic: start,
  ...more,
})

const proofs = (options: VertexOptions = { serviceAccount }) => {
  const provider = googleVertex(options)
  return async (more: Partial<AuthorizationContext> = {}, credential = provider.credential) => {
    const headers: Record<string, string> = {}
    if (!credential) throw new Error('it is off')
    await provider.authorize(headers, credential, calling(more))
    return headers
  }
}

describe('a service account', () => {
  test('signs an assertion with its identity and scope, and exchanges it for a token', async () => {
    tokens()
    expect(await proofs()()).toEqual({ authorization: 'Bearer ya29.1' })
    const [{ path, type, form } = { path: '', type: '', form: new URLSearchParams() }] = tokenRequests
    expect([path, type, form.get('grant_type')]).toEqual([
      '/token',
      'application/x-www-form-urlencoded',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ])
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', keys.publicKey, { currentDate: new Date(start) })
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    expect(payload).toEqual({
      iss: serviceAccount.client_email,
      aud: 'https://oauth2.googleapis.com/token',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      iat: start / 1000,
      exp: start / 1000 + 3600,
    })
    expect(reached.at(-1)).toBe('https://oauth2.googleapis.com')
  })

  test.each([0, -3600, 3600])('keeps its token until a minute before it expires, also if the clock is set %i s forward', async jump => {
    tokens(3600)
    const prove = proofs()
    const at = async (seconds: number) => {
      const now = start + (seconds + (seconds > 0 ? jump : 0)) * 1000
      return (await prove({ now, monotonic: start + seconds * 1000 })).authorization
    }
    expect([await at(0), await at(3539), await at(3540), await at(3541)]).toEqual([
      'Bearer ya29.1',
      'Bearer ya29.1',
      'Bearer ya29.2',
      'Bearer ya29.2',
    ])
    expect(tokenRequests).toHaveLength(2)
  })

  test('requests one token for all concurrent calls', async () => {
    tokens()
    const prove = proofs()
    const all = await Promise.all(Array.from({ length: 20 }, () => prove()))
    expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer ya29.1']))
    expect(tokenRequests).toHaveLength(1)
  })

  test('requests a token again for the other calls if the call that requested it is aborted', async () => {
    tokens()
    let go = (): void => {}
    hold = new Promise(resolve => {
      go = resolve
    })
    const prove = proofs()
    const leaving = new AbortController()
    const first = prove({ signal: leaving.signal })
    const others = [prove(), prove()]
    await expect.poll(() => tokenRequests.length).toBe(1)
    leaving.abort()
    await expect(first).rejects.toThrow()
    go()
    const proven = await Promise.all(others)
    expect(new Set(proven.map(({ authorization }) => authorization)).size).toBe(1)
    expect(tokenRequests).toHaveLength(2)
  })

  test('rejects a response that is nested too deep, and requests a token again the next time', async () => {
    answer = () => ({ status: 200, body: `{"access_token":"ya29.deep","in":${'['.repeat(5_000)}${']'.repeat(5_000)}}` })
    const prove = proofs()
    await expect(prove()).rejects.toThrow('No token came')
    tokens()
    expect(await prove()).toEqual({ authorization: 'Bearer ya29.1' })
  })

  test('that is refused gets no token, and requests it again the next time', async () => {
    answer = () => ({ status: 400, body: '{"error":"invalid_grant"}' })
    const prove = proofs()
    expect(await prove()).toEqual({})
    tokens()
    expect(await prove()).toEqual({ authorization: 'Bearer ya29.1' })
  })

  test.each([
    [503, 'later'],
    [200, '{}'],
    [200, 'no json'],
  ])('whose token request fails makes the call fail, and nothing is cached: %i %s', async (status, body) => {
    answer = () => ({ status, body })
    const prove = proofs()
    await expect(prove()).rejects.toThrow(/token/)
    tokens()
    expect(await prove()).toEqual({ authorization: 'Bearer ya29.1' })
  })

  test('with a changed key is another account', async () => {
    tokens()
    const prove = proofs({})
    await prove({}, byok({}))
    await prove({}, byok({}, secret.replace('robot@', 'other@')))
    expect(tokenRequests).toHaveLength(2)
  })

  test.each([
    'http://169.254.169.254/token',
    'https://evil.example/token',
    'https://oauth2.googleapis.com.evil.example/token',
    'https://oauth2.googleapis.com:8443/token',
    'nonsense',
  ])('cannot set another URL for its assertion: %s', async token_uri => {
    tokens()
    reached.length = 0
    await proofs({})({}, byok({}, JSON.stringify({ ...serviceAccount, token_uri })))
    expect(reached).toEqual(['https://oauth2.googleapis.com'])
    expect(tokenRequests.map(({ path }) => path)).toEqual(['/token'])
  })

  test('with an invalid key gets no token, and no request is sent', async () => {
    expect(await proofs({})({}, byok({}, JSON.stringify({ ...serviceAccount, private_key: 'x' })))).toEqual({})
    expect(tokenRequests).toEqual([])
  })

  test('with an invalid token puts it in no header', async () => {
    expect(await proofs({})({}, byok({ project: 'p' }, '{"private_key": "secret"'))).toEqual({})
    expect(() => googleVertex({ serviceAccount: { ...serviceAccount, private_key: undefined as unknown as string } })).toThrow(
      /private_key/,
    )
  })
})

describe('other credentials of Vertex AI', () => {
  test('may be an express mode key in its header', async () => {
    expect(await proofs({ apiKey: 'AQ.express' })()).toEqual({ 'x-goog-api-key': 'AQ.express' })
    expect(await proofs({})({}, byok(undefined, 'AIza-theirs'))).toEqual({ 'x-goog-api-key': 'AIza-theirs' })
  })
  test('may be an external token, given as a string or requested for each call', async () => {
    expect(await proofs({ project: 'ours', accessToken: 'of-the-machine' })()).toEqual({ authorization: 'Bearer of-the-machine' })
    let count = 0
    const prove = proofs({ project: 'ours', accessToken: async () => `t${++count}` })
    expect([await prove(), await prove()]).toEqual([{ authorization: 'Bearer t1' }, { authorization: 'Bearer t2' }])
    expect(await prove({}, byok(undefined, 'ya29.theirs'))).toEqual({ authorization: 'Bearer ya29.theirs' })
  })
  test('if missing leave the provider off', () => {
    expect(googleVertex().credential).toBeUndefined()
  })
})

describe('the URLs of Vertex AI', () => {
  const at = (
    options: VertexOptions,
    {
      dialect = 'gemini',
      model = 'm',
      stream = false,
      credential,
    }: { dialect?: string; model?: string; stream?: boolean; credential?: Credential } = {},
  ) => {
    const provider = googleVertex(options)
    const used = credential ?? provider.credential
    if (!used) throw new Error('it is off')
    return provider.endpoint({ api: dialect, model, stream, credential: used })
  }
  const here = { accessToken: 't', project: 'p', location: 'europe-west4' }
  const root = 'https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p/locations/europe-west4'

  test('have the project, the location and the model', () => {
    expect(at(here)).toBe(`${root}/publishers/google/models/m:generateContent`)
    expect(at(here, { stream: true })).toBe(`${root}/publishers/google/models/m:streamGenerateContent?alt=sse`)
    expect(at(here, { dialect: 'messages', model: 'claude-sonnet-4-5@20250929' })).toBe(
      `${root}/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`,
    )
    expect(at(here, { dialect: 'messages', model: 'claude', stream: true })).toBe(
      `${root}/publishers/anthropic/models/claude:streamRawPredict`,
    )
    expect(at(here, { dialect: 'chat', model: 'meta/llama' })).toBe(`${root}/endpoints/openapi/chat/completions`)
  })
  test.each([
    ['global', 'aiplatform.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us-central1', 'us-central1-aiplatform.googleapis.com'],
  ])('%s is at %s', (location, host) => {
    expect(new URL(at({ ...here, location })).host).toBe(host)
  })
  test('have no project in express mode', () => {
    expect(at({ apiKey: 'k', project: 'p' })).toBe('https://aiplatform.googleapis.com/v1beta1/publishers/google/models/m:generateContent')
  })
  test('may have another base URL', () => {
    expect(at({ ...here, baseURL: 'http://127.0.0.1:1/v1/' })).toBe(
      'http://127.0.0.1:1/v1/projects/p/locations/europe-west4/publishers/google/models/m:generateContent',
    )
    expect(() => googleVertex({ baseURL: 'ftp://x' })).toThrow(/base URL/)
  })
  test('have the account’s own project and location, else those of its key, never the gateway’s project', () => {
    const project = (credential?: Credential, options: VertexOptions = here) =>
      /projects\/([^/]+)\/locations\/([^/]+)/.exec(at(options, { ...(credential && { credential }) }))?.slice(1)
    expect(project(undefined, { serviceAccount })).toEqual(['project-of-key', 'global'])
    expect(project(undefined, { serviceAccount, project: 'p' })).toEqual(['p', 'global'])
    expect(project(byok(undefined))).toEqual(['project-of-key', 'europe-west4'])
    expect(project(byok({ project: 'theirs', location: 'us' }))).toEqual(['theirs', 'us'])
    expect(() => project(byok(undefined, 'ya29.x'))).toThrow(/project/)
  })
  test.each(['evil.example/', 'evil.example#', 'a@evil.example', '..', '', 'US', 'us central1'])(
    'a place that is none is no part of an address: %j',
    location => {
      expect(() => at(here, { credential: byok({ location }) })).toThrow(/location/)
    },
  )
  test('have the same project and location for token counts', () => {
    const provider = googleVertex(here)
    const count = (dialect: string) =>
      provider.credential && provider.countEndpoint?.({ api: dialect, model: 'm', stream: false, credential: provider.credential })
    expect(count('gemini')).toBe(`${root}/publishers/google/models/m:countTokens`)
    expect(count('messages')).toBe(`${root}/publishers/anthropic/models/count-tokens:rawPredict`)
    expect(count('chat')).toBeUndefined()
  })
})

describe('the request body for Vertex AI', () => {
  const request: InferenceRequest = {
    prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }], instructions: 'I' },
    routing: { models: ['m'], allow_fallbacks: true },
    delivery: 'stream',
  }
  const { dialects, quirksOf } = googleVertex()
  const encoded = (name: string, model = 'm') => {
    const dialect = dialects.find(each => each.name === name)
    const offer = { provider: 'google-vertex', model, api: name, maxOutputTokens: 100 }
    return { sent: dialect?.encodeRequest(request, offer, {}).body, counted: dialect?.counting?.encodeRequest(request, offer, {}).body }
  }

  test('has the contents at the top level in a token count request to Gemini', () => {
    const { sent, counted } = encoded('gemini')
    expect(counted).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], systemInstruction: { parts: [{ text: 'I' }] } })
    expect(sent).toEqual(counted)
  })
  test('has a version and no model for Claude, except in a token count request', () => {
    const { sent, counted } = encoded('messages', 'claude-x')
    expect(sent).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true, max_tokens: 100 })
    expect(sent).not.toHaveProperty('model')
    expect(counted).toMatchObject({ anthropic_version: 'vertex-2023-10-16', model: 'claude-x' })
  })
  test('follows the quirks of each maker’s models', () => {
    expect(quirksOf?.('gemini-2.5-flash')).toMatchObject({
      thinking: ['budget'],
      refuses: ['frequency_penalty', 'presence_penalty', 'service_tier'],
    })
    expect(quirksOf?.('claude-sonnet-4-5@20250929')).toMatchObject({ thinkingBudget: { min: 1024 } })
    expect(quirksOf?.('meta/llama-4-maverick')).toBeUndefined()
  })
})
