import type { JsonObject } from '@signalbox/core/protocol'
import { gatewayFetch } from '@signalbox/fetch-handler'
import { describe, expect, onTestFinished, test } from 'vitest'
import { scriptedProvider, testGateway } from '../src/index.ts'
import { found, languages } from './drivers/languages.ts'

// An image that a model made goes with the conversation when the client sends it back.

const bytes = 'iVBORw0KGgoAAAANSUhEUgAAAAE='
const made = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: bytes, output_format: 'png' }

describe.each(languages)('before a provider of $name', language => {
  const ask = async (item: JsonObject) => {
    const provider = scriptedProvider({ id: 'scripted', dialect: language.dialect })
    const { gateway, secret, close } = await testGateway({ providers: [provider] })
    onTestFinished(close)
    const response = await gatewayFetch(gateway)('http://x/v1/responses', {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'test-model',
        input: [{ role: 'user', content: 'Draw a house.' }, item, { role: 'user', content: 'Now a door.' }],
      }),
    })
    return { status: response.status, json: (await response.json()) as JsonObject, sent: provider.calls[0]?.body }
  }

  test('an earlier image_generation_call is sent as its item or as an image', async () => {
    const { status, sent, json } = await ask(made)
    expect({ status, warnings: json.warnings ?? [] }).toEqual({ status: 200, warnings: [] })
    if (language.name === 'responses') expect(sent?.input).toMatchObject([{}, made, {}])
    else expect(found(sent, language.picture)).toEqual([{ type: 'image/png', data: bytes }])
  })

  test('one without its bytes is named', async () => {
    const { status, json } = await ask({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null })
    if (language.name === 'responses') expect(status).toBe(200)
    else expect(json).toMatchObject({ error: { code: 'input_requires_responses_endpoint', param: 'input[1]' } })
  })
})
