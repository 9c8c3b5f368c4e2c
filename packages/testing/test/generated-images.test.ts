import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { gatewayFetch } from '@signalbox/fetch-handler'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Act, type ScriptedProvider, scriptedProvider, testGateway } from '../src/index.ts'
import { found, type ProviderTraits, providerTraits, traitsOf } from './drivers/provider-traits.ts'

// An image that a model made goes with the conversation when the client sends it back.

const bytes = 'iVBORw0KGgoAAAANSUhEUgAAAAE='
const dataUrl = `data:image/png;base64,${bytes}`
const made = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: bytes, output_format: 'png' }

/** Sends bodies to a gateway, and returns the answers. */
async function clientOf(provider: ScriptedProvider) {
  const { gateway, secret, close } = await testGateway({ providers: [provider] })
  onTestFinished(close)
  return async (path: string, body: JsonObject) => {
    const response = await gatewayFetch(gateway)(`http://x/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', ...body }),
    })
    return { status: response.status, json: (await response.json()) as JsonObject }
  }
}

const list = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value : [])

describe.each(providerTraits)('with a provider of $name', traits => {
  const start = async ({ dialect }: ProviderTraits) => {
    const provider = scriptedProvider({ id: 'scripted', dialect })
    const send = await clientOf(provider)
    return async (path: string, body: JsonObject) => ({ ...(await send(path, body)), sent: provider.calls[0]?.body })
  }
  const askWith = async (item: JsonObject) => {
    const send = await start(traits)
    return send('responses', { input: [{ role: 'user', content: 'Draw a house.' }, item, { role: 'user', content: 'Now a door.' }] })
  }
  const askInChat = async (fields: JsonObject) => {
    const send = await start(traits)
    const assistant = { role: 'assistant', content: null, ...fields }
    return send('chat/completions', {
      messages: [{ role: 'user', content: 'Draw a house.' }, assistant, { role: 'user', content: 'Now a door.' }],
    })
  }

  test('an earlier image_generation_call is sent as its item or as an image', async () => {
    const { status, sent, json } = await askWith(made)
    expect({ status, warnings: json.warnings ?? [] }).toEqual({ status: 200, warnings: [] })
    if (traits.name === 'responses') expect(sent?.input).toMatchObject([{}, made, {}])
    else expect(found(sent, traits.picture)).toEqual([{ type: 'image/png', data: bytes }])
  })

  test('an image_generation_call without its bytes is refused with its path', async () => {
    const { status, json } = await askWith({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null })
    if (traits.name === 'responses') expect(status).toBe(200)
    else expect(json).toMatchObject({ error: { code: 'input_requires_responses_endpoint', param: 'input[1]' } })
  })

  test.each(['Here it is.', null])('the images of an earlier chat message are sent, with the text %j', async content => {
    const images = [{ type: 'image_url', image_url: { url: dataUrl }, index: 0 }]
    const { status, sent, json } = await askInChat({ content, images })
    expect({ status, warnings: json.warnings ?? [] }).toEqual({ status: 200, warnings: [] })
    expect(found(sent, traits.picture)).toEqual([{ type: 'image/png', data: bytes }])
    if (traits.name === 'chat') expect(sent?.messages).toMatchObject([{}, { role: 'assistant', content, images }, {}])
    if (content !== null) expect(JSON.stringify(sent)).toContain(content)
  })

  test('an invalid image of a chat message is refused with its path', async () => {
    const { status, json } = await askInChat({ images: [{ type: 'image_url', image_url: { url: 'file-id' } }] })
    expect(status).toBe(200)
    if (traits.name !== 'chat') expect(json.warnings).toMatchObject([{ code: 'earlier_output_dropped', param: 'messages[1].images[0]' }])
  })
})

describe('an image made by Gemini, sent back in its own turn', () => {
  const gemini = traitsOf('gemini').dialect
  const inlineData = { mimeType: 'image/png', data: bytes }
  const answer =
    (...parts: readonly JsonObject[]): Act =>
    async () => ({
      status: 200,
      body: {
        candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5 },
      },
    })
  const reasoning = { text: 'A roof first.', thought: true, thoughtSignature: 'T' }
  const signed = [
    { text: 'Here it is.', thoughtSignature: 'A' },
    { inlineData, thoughtSignature: 'B' },
    { inlineData, thoughtSignature: 'C' },
  ]

  /** The model's turn in the second request. */
  async function turnAfter(provider: ScriptedProvider, client: BuiltInDialect): Promise<unknown> {
    const send = await clientOf(provider)
    const question = { role: 'user', content: 'Draw a house.' }
    const next = { role: 'user', content: 'Now a door.' }
    if (client === 'chat') {
      const { json } = await send('chat/completions', { messages: [question] })
      expect((await send('chat/completions', { messages: [question, list(json.choices)[0]?.message ?? {}, next] })).status).toBe(200)
    } else {
      const include = ['reasoning.encrypted_content']
      const { json } = await send('responses', { input: [question], include })
      expect((await send('responses', { input: [question, ...list(json.output), next], include })).status).toBe(200)
    }
    return provider.calls[1]?.body.contents
  }

  test.each(['responses', 'chat'] as const)('keeps its signature, through %s', async client => {
    const provider = scriptedProvider({ id: 'google', dialect: gemini, acts: [answer(reasoning, ...signed), answer({ text: 'Done.' })] })
    const contents = list(await turnAfter(provider, client))
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user'])
    expect(contents[1]?.parts).toEqual(client === 'chat' ? [expect.anything(), ...signed] : [reasoning, ...signed])
  })

  test('is sent as a user image if it has no signature, because the model would refuse it in its own turn', async () => {
    const provider = scriptedProvider({ id: 'google', dialect: gemini, acts: [answer({ inlineData }), answer({ text: 'Done.' })] })
    const contents = list(await turnAfter(provider, 'responses'))
    expect(contents.map(({ role }) => role)).toEqual(['user'])
    expect(found(contents, traitsOf('gemini').picture)).toHaveLength(1)
  })

  test('needs no signature if the model makes images without reasoning', async () => {
    const provider = scriptedProvider({ id: 'google', dialect: gemini, acts: [answer({ inlineData }), answer({ text: 'Done.' })] })
    const contents = await turnAfter(Object.assign(provider, { quirks: { ownImages: true } }), 'responses')
    expect(contents).toMatchObject([{ role: 'user' }, { role: 'model', parts: [{ inlineData }] }, { role: 'user' }])
  })
})
