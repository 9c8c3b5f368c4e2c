import { responsesProvider } from '@signalbox/dialects'
import { isObject, type Json, type JsonObject, type Provider } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { type Act, scriptedProvider, testGateway } from '../src/index.ts'

// OpenAI reuses the container of an earlier `code_interpreter_call`. Whose it is depends on whose answer named it.

const user = { role: 'user', content: 'Go on.' }
const codeCall = (id: string, container_id: string): JsonObject => ({
  ...{ type: 'code_interpreter_call', id, container_id, status: 'completed' },
  ...{ code: 'print(1)', outputs: null },
})
const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '1', annotations: [] }] }

const answering =
  (container: string): Act =>
  async () => ({
    status: 200,
    body: {
      ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed' },
      output: [codeCall('ci_0123456789abcdef0123456789abcdef', container), { ...message, id: 'msg_1', status: 'completed' }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  })

async function start(facts: Partial<Provider> = {}) {
  const provider = scriptedProvider({ id: 'scripted', dialect: responsesProvider })
  const { gateway, caller } = await testGateway({ providers: [{ ...provider, ...facts }] })
  const ask = async (input: Json, as = caller) =>
    (await gateway.responses.create({ model: 'test-model', input } as never, { caller: as })) as unknown as JsonObject
  const sentTypes = (): readonly unknown[] => {
    const input = provider.calls.at(-1)?.body.input
    return Array.isArray(input) ? (input as readonly Json[]).map(each => isObject(each) && (each.type ?? each.role)) : []
  }
  const sent = (): string => JSON.stringify(provider.calls.at(-1)?.body)
  return { provider, gateway, caller, ask, sent, sentTypes }
}

describe('a record that names a container at the provider', () => {
  test('is left out with the reasoning before it, unless it comes from an answer to the caller', async () => {
    const { ask, sent, sentTypes } = await start()
    const response = await ask([user, reasoning, codeCall('ci_1', 'cntr_other'), message, user])
    expect(sentTypes()).toEqual(['user', 'message', 'user'].map(type => (type === 'user' ? expect.stringMatching(/user|message/) : type)))
    expect(sent()).not.toContain('cntr_other')
    expect(JSON.stringify(response)).toMatch(/earlier_output_dropped.*`input\[2\]` \(`code_interpreter_call`\)/)
  })

  test('is sent as it is if the caller got it, and not with the container of another', async () => {
    const { provider, ask, sent } = await start()
    provider.play(answering('cntr_mine'))
    const { output } = await ask('Hi')
    await ask([user, ...(output as readonly JsonObject[]), user])
    expect(sent()).toContain('cntr_mine')
    const forged = (output as readonly JsonObject[]).map(item =>
      item.type === 'code_interpreter_call' ? { ...item, container_id: 'cntr_other' } : item,
    )
    await ask([user, ...forged, user])
    expect(sent()).not.toMatch(/cntr_|code_interpreter_call/)
  })

  test('is left out for another workspace', async () => {
    const { provider, gateway, ask, sent } = await start()
    provider.play(answering('cntr_mine'))
    const { output } = await ask('Hi')
    await gateway.workspaces.create({ id: 'other', name: 'Other', billing: 'postpaid' })
    const { secret } = await gateway.workspaces('other').apiKeys.create({ name: 'k' })
    await ask([user, ...(output as readonly JsonObject[]), user], await gateway.authenticate(secret))
    expect(sent()).not.toMatch(/cntr_|code_interpreter_call/)
  })

  test('is sent where the operator shares what is stored, but not for a user whom the app does not allow it', async () => {
    const { caller, ask, sent } = await start({ providerStorage: true })
    const input = [user, codeCall('ci_1', 'cntr_other'), message, user]
    await ask(input)
    expect(sent()).toContain('cntr_other')
    await ask(input, { ...caller, isEndUser: true })
    expect(sent()).not.toContain('cntr_other')
  })

  test.each([
    {
      type: 'shell_call',
      call_id: 'c1',
      action: { commands: ['ls'] },
      environment: { type: 'container_reference', container_id: 'cntr_other' },
    },
    { type: 'image_generation_call', id: 'ig_other' },
    { type: 'image_generation_call', id: 'ig_other', status: 'failed', result: null },
  ])('may be of another type: %j', async record => {
    const { ask, sent } = await start()
    const result = { type: 'shell_call_output', call_id: 'c1', output: [] }
    await ask([user, record, ...('call_id' in record ? [result] : []), message, user] as unknown as Json)
    expect(sent()).not.toMatch(/_other|shell_call/)
  })
})
