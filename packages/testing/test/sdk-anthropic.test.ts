import { describe, expect, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, defaultText, fasterClock, type ScriptedProvider, scriptedProvider } from '../src/index.ts'
import { type Version, versions } from './drivers/anthropic-versions.ts'
import { openTestbed } from './drivers/fixture.ts'
import { found, type ProviderTraits, providerTraits, traitsOf } from './drivers/provider-traits.ts'
import { look } from './drivers/scenes.ts'
import type { Testbed } from './drivers/sdk-response.ts'
import { shareOf } from './share-of.ts'

const model = 'test-model'
const asked = { model, max_tokens: 4_000, messages: [{ role: 'user' as const, content: 'Go.' }] }
const usage = { input: 100, cached: 60, output: 30, reasoning: 10 }

interface Opened {
  readonly client: InstanceType<Version['Package']>
  readonly provider: ScriptedProvider
  readonly testbed: Required<Testbed>
  /** Where it called, and with which headers. */
  readonly seen: readonly { readonly url: URL; readonly headers: Headers }[]
}

async function open({ Package }: Version, traits: ProviderTraits, script: readonly Act[] = []): Promise<Opened> {
  const provider = scriptedProvider({ id: 'scripted', dialect: traits.dialect, acts: script })
  const testbed = await openTestbed([provider], fasterClock(50))
  const seen: { url: URL; headers: Headers }[] = []
  const fetch: Testbed['fetch'] = (input, init) => {
    seen.push({ url: new URL(String(input)), headers: new Headers(init?.headers) })
    return testbed.fetch(input, init)
  }
  const client = new Package({ apiKey: testbed.secret, baseURL: testbed.url, maxRetries: 0, fetch })
  return { client, provider, testbed: { ...testbed, fetch }, seen }
}

const thrown = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (reason: unknown) => reason,
  )

describe.each(versions)('@anthropic-ai/sdk $version', version => {
  const { Package } = version

  describe.each(shareOf(providerTraits, versions.indexOf(version), 2))('before a provider of $name', traits => {
    test('create and the last message of a stream are equal', async () => {
      const act = acts.reply({ text: defaultText, usage: { ...usage, reasoning: 0 } })
      const { client } = await open(version, traits, [act, act])
      const messages = [await client.messages.create(asked), await client.messages.stream(asked).finalMessage()]
      for (const message of messages) {
        expect(message.content).toMatchObject([{ type: 'text', text: defaultText }])
        expect(message).toMatchObject({
          id: expect.stringMatching(/^msg_/),
          model,
          stop_reason: 'end_turn',
          usage: { input_tokens: 40, cache_read_input_tokens: 60, cache_creation_input_tokens: 0, output_tokens: 30 },
        })
      }
    })

    test('reasoning is returned in blocks, whole and streamed, and may be sent back', async () => {
      const act = acts.reply({ reasoning: 'First the points.', text: 'Yes.' })
      const { client, provider } = await open(version, traits, [act, act])
      const thinking = { type: 'enabled' as const, budget_tokens: 2_000 }
      for (const message of [
        await client.messages.create({ ...asked, thinking }),
        await client.messages.stream({ ...asked, thinking }).finalMessage(),
      ]) {
        expect(message.content).toMatchObject([
          { type: 'thinking', thinking: 'First the points.' },
          { type: 'text', text: 'Yes.' },
        ])
        const next = { role: 'user' as const, content: 'And now?' }
        const messages = [...asked.messages, { role: 'assistant' as const, content: message.content }, next]
        expect(await client.messages.create({ ...asked, messages })).toMatchObject({ stop_reason: 'end_turn' })
        expect(JSON.stringify(provider.calls.at(-1)?.body)).toContain('And now?')
      }
    })

    test.each([false, true])('the tool runner runs to the end, streamed: %s', async stream => {
      const { client, provider } = await open(version, traits, [
        acts.reply({
          text: 'Looking.',
          tools: [
            { name: look.name, arguments: '{"place": "Zürich"}' },
            { name: look.name, arguments: '{"place": "Kyōto"}' },
          ],
        }),
        acts.reply('Done.'),
      ])
      const tool = version.betaTool({
        name: look.name,
        description: look.description,
        inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
        run: ({ place }) => `Rain in ${place}`,
      })
      const final = await client.beta.messages.toolRunner({ ...asked, tools: [tool], stream })
      expect(final.content).toMatchObject([{ type: 'text', text: 'Done.' }])
      expect(found(provider.calls[1]?.body, traits.result).map(({ output }) => output)).toEqual(['Rain in Zürich', 'Rain in Kyōto'])
    })

    test('tokens are counted without calling a provider', async () => {
      const { client, provider } = await open(version, traits)
      const { max_tokens, ...counted } = asked
      const short = await client.messages.countTokens(counted)
      const long = await client.messages.countTokens({ ...counted, system: defaultText.repeat(10) })
      expect(short.input_tokens).toBeGreaterThan(0)
      expect(long.input_tokens).toBeGreaterThan(short.input_tokens)
      expect(provider.calls).toEqual([])
    })

    test.each([
      { theirs: 400, code: 'invalid_request_error', status: 400, errorClass: Package.BadRequestError, type: 'invalid_request_error' },
      { theirs: 401, code: 'invalid_api_key', status: 502, errorClass: Package.InternalServerError, type: 'api_error' },
      { theirs: 404, code: 'model_not_found', status: 502, errorClass: Package.InternalServerError, type: 'api_error' },
      { theirs: 429, code: 'rate_limit_exceeded', status: 429, errorClass: Package.RateLimitError, type: 'rate_limit_error' },
    ])('a $theirs of the provider is a $type with its own class', async ({ theirs, code, status, errorClass, type }) => {
      const act = acts.status(theirs, { code })
      // An overloaded provider is retried after a while, and is overloaded again.
      const { client } = await open(version, traits, Array(8).fill(act))
      for (const ask of [() => client.messages.create(asked), () => client.messages.stream(asked).finalMessage()]) {
        const error = await thrown(ask())
        expect(error).toBeInstanceOf(errorClass)
        expect(error).toMatchObject({ status, requestID: expect.any(String), error: { type: 'error', error: { type } } })
      }
    })

    test('a stream that breaks is an error, and no message', async () => {
      const { client } = await open(version, traits, [acts.errorAfter(4)])
      const error = await thrown(client.messages.stream(asked).finalMessage())
      expect(error).toBeInstanceOf(Package.APIError)
      expect(error).toMatchObject({ error: { type: 'error', error: { type: 'api_error' } } })
    })
  })

  test('errors of the gateway have their classes too', async () => {
    const { client, testbed } = await open(version, traitsOf('messages'))
    const stranger = new Package({ apiKey: 'ak_wrong', baseURL: testbed.url, maxRetries: 0, fetch: testbed.fetch })
    expect(await thrown(stranger.messages.create(asked))).toBeInstanceOf(Package.AuthenticationError)
    expect(await thrown(client.messages.create({ ...asked, model: 'test-modle' }))).toBeInstanceOf(Package.NotFoundError)
    expect(await thrown(client.messages.create({ ...asked, max_tokens: -1 }))).toBeInstanceOf(Package.BadRequestError)
  })

  test('a key is accepted in either header', async () => {
    const { client, testbed, seen } = await open(version, traitsOf('messages'))
    const bearer = new Package({ apiKey: null, authToken: testbed.secret, baseURL: testbed.url, maxRetries: 0, fetch: testbed.fetch })
    for (const each of [client, bearer]) expect(await each.messages.create(asked)).toMatchObject({ stop_reason: 'end_turn' })
    const names = ['authorization', 'x-api-key']
    expect(seen.map(({ headers }) => names.filter(name => headers.has(name)))).toEqual([[version.keyHeader], ['authorization']])
  })

  test('beta calls are accepted', async () => {
    const { client, seen } = await open(version, traitsOf('messages'))
    const betas = ['interleaved-thinking-2025-05-14']
    expect(await client.beta.messages.create({ ...asked, betas })).toMatchObject({ content: [{ text: defaultText }] })
    expect(await client.beta.messages.stream({ ...asked, betas }).finalMessage()).toMatchObject({ content: [{ text: defaultText }] })
    const { max_tokens, ...counted } = asked
    expect(await client.beta.messages.countTokens({ ...counted, betas })).toMatchObject({ input_tokens: expect.any(Number) })
    expect(seen.map(({ url }) => url.search)).toEqual(Array.from(seen, () => version.betaQuery))
    for (const { headers } of seen) expect(headers.get('anthropic-beta')).toContain(betas[0])
  })

  test('the models are listed', async () => {
    const { testbed } = await open(version, traitsOf('messages'))
    const client = new Package({ apiKey: null, authToken: testbed.secret, baseURL: testbed.url, maxRetries: 0, fetch: testbed.fetch })
    const ids: string[] = []
    for await (const { id } of client.models.list()) ids.push(id)
    expect(ids).toContain(model)
    expect(await client.models.retrieve(model)).toMatchObject({ id: model })
  })
})
