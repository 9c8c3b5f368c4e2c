import { chatProvider, clientDialects, messagesProvider, providerDialects, responsesProvider } from '@signalbox/dialects'
import type { JsonObject, Provider, ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { scriptedProvider, testGateway } from '../src/index.ts'

// The response object reports the settings that were used, whole and streamed.

/** Of the first and the last object of a stream, and of the whole one. */
async function echoes(dialect: ProviderDialect, quirks: Quirks, fields: JsonObject): Promise<readonly JsonObject[]> {
  const provider: Provider = { ...scriptedProvider({ id: 'p', dialect }), quirks }
  const offer = { provider: 'p', model: 'm', api: dialect.name, maxOutputTokens: 64_000, price: { input: 0, output: 0 } }
  const { gateway, caller } = await testGateway({ providers: [provider], models: [{ id: 'm', offers: [offer] }] })
  const client = clientDialects.responses
  const body = { model: 'm', input: 'Hi', ...fields }
  const asked = client.decodeRequest(body)
  const reply = gateway.infer(asked, { caller })
  const whole = client.encodeResponse(await reply.whole(), asked, reply.metadata())
  const streamed = client.decodeRequest({ ...body, stream: true })
  const stream = gateway.infer(streamed, { caller })
  const encoder = client.encodeEvents(streamed, stream.metadata)
  const events: JsonObject[] = []
  for await (const event of stream) for (const { data } of encoder.write([event])) events.push(JSON.parse(data) as JsonObject)
  return [whole, events[0]?.response as JsonObject, events.at(-1)?.response as JsonObject]
}

const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }]

test.each<[string, ProviderDialect, Quirks, JsonObject, JsonObject]>([
  ['a temperature that was lowered', messagesProvider, {}, { temperature: 1.7 }, { temperature: 1 }],
  [
    'a temperature that was left out',
    messagesProvider,
    { sampling: 'none' },
    { temperature: 0.4, top_p: 0.5 },
    { temperature: 1, top_p: 1 },
  ],
  [
    'an effort that was lowered',
    chatProvider,
    { efforts: ['low', 'high'] },
    { reasoning: { effort: 'xhigh' } },
    { reasoning: { effort: 'high', summary: null } },
  ],
  ['a demanded call that was not', chatProvider, { noForcedTools: true }, { tools, tool_choice: 'required' }, { tool_choice: 'auto' }],
  ['a cap that was raised', responsesProvider, { minOutputTokens: 16 }, { max_output_tokens: 3 }, { max_output_tokens: 16 }],
  [
    'penalties that cannot be said',
    messagesProvider,
    {},
    { frequency_penalty: 1, presence_penalty: 1 },
    { frequency_penalty: 0, presence_penalty: 0 },
  ],
  ['words that another service has for its tier', messagesProvider, {}, { service_tier: 'performance' }, { service_tier: 'default' }],
  [
    'what was sent as it came',
    messagesProvider,
    {},
    { temperature: 0.3, tools, tool_choice: 'required' },
    { temperature: 0.3, tool_choice: 'required' },
  ],
])('%s', async (...[, dialect, quirks, asked, told]) => {
  for (const echo of await echoes(dialect, quirks, asked)) expect(echo).toMatchObject(told)
})

/** A provider of the client's own dialect reports what it used. */
const others = Object.values(providerDialects).filter(dialect => dialect !== responsesProvider)

test.each(others)('$name: no setting is reported that was not sent', async dialect => {
  const [whole] = await echoes(
    dialect,
    {},
    { temperature: 1.9, top_p: 0.9, frequency_penalty: 0.5, max_output_tokens: 50, truncation: 'auto' },
  )
  const warned = new Set(((whole?.warnings ?? []) as readonly JsonObject[]).map(({ param }) => param))
  expect(whole).toMatchObject({
    max_output_tokens: 50,
    ...(!warned.has('temperature') && { temperature: 1.9 }),
    ...(warned.has('truncation') && { truncation: 'disabled' }),
    ...(warned.has('frequency_penalty') && { frequency_penalty: 0 }),
  })
})

test('a response without token counts states that its usage is an estimate', async () => {
  const { answer, ...provider } = scriptedProvider({ id: 'p', dialect: chatProvider })
  const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  for (const usage of [zero, undefined]) {
    const counting: Provider = {
      ...provider,
      answer: async call => {
        const reply = await answer?.(call)
        if (!reply || !('body' in reply)) throw new Error('It was asked for a whole answer.')
        const { usage: _, ...body } = reply.body
        return { ...reply, body: { ...body, ...(usage && { usage }) } }
      },
    }
    const { gateway, caller } = await testGateway({ providers: [counting] })
    const inputs = new Set<number | undefined>()
    for (const [name, body] of [
      ['responses', { input: 'Hi', instructions: 'Be brief.', tools }],
      [
        'chat',
        {
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'Hi' },
          ],
          tools: tools.map(({ type, ...fn }) => ({ type, function: fn })),
        },
      ],
      [
        'messages',
        {
          max_tokens: 64,
          system: 'Be brief.',
          messages: [{ role: 'user', content: 'Hi' }],
          tools: [{ name: 'f', input_schema: tools[0]?.parameters }],
        },
      ],
    ] as const) {
      const reply = gateway.infer(clientDialects[name].decodeRequest({ model: 'test-model', ...body } as JsonObject), { caller })
      inputs.add((await reply.whole()).usage?.input_tokens)
      expect(reply.metadata().warnings.map(({ code }) => code)).toEqual(['usage_estimated'])
    }
    expect(inputs.size).toBe(1)
  }
})
