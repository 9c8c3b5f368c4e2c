import type { JsonObject } from '@signalbox/dialects/protocol'
import { gatewayFetch } from '@signalbox/fetch-handler'
import OpenAI from 'openai'
import type { ResponseInput, ResponseOutputItem, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acts, scriptedProvider, testGateway } from '../src/index.ts'
import { found, providerTraits } from './drivers/provider-traits.ts'

// Coding agents edit files with a custom tool: its input is free text. Providers of other dialects have functions only.

const patch = '*** Begin Patch\n*** Update File: a.ts\n@@\n-"old\\path"\n+“new” 😀\n*** End Patch\n'
const tools = [
  {
    type: 'custom' as const,
    name: 'apply_patch',
    description: 'Edits files. FREEFORM: do not wrap the patch in JSON.',
    format: { type: 'grammar' as const, syntax: 'lark' as const, definition: 'start: begin hunk+ end' },
  },
]

const open = async (name: string) => {
  const traits = providerTraits.find(each => each.name === name)
  if (!traits) throw new Error(`No dialect ${name}.`)
  const provider = scriptedProvider({
    id: 'scripted',
    dialect: traits.dialect,
    acts: [acts.toolCall('apply_patch', { input: patch }), acts.reply('All done.')],
  })
  const testbed = await testGateway({ providers: [provider] })
  onTestFinished(testbed.close)
  const client = new OpenAI({
    baseURL: 'http://signalbox.local/v1',
    apiKey: testbed.secret,
    fetch: gatewayFetch(testbed.gateway),
    maxRetries: 0,
  })
  const sentCalls = (turn: number) => found(provider.calls[turn]?.body ?? {}, traits.call)
  const sentResults = (turn: number) => found(provider.calls[turn]?.body ?? {}, traits.result)
  return { client, provider, sentCalls, sentResults }
}

async function streamed(events: AsyncIterable<ResponseStreamEvent>) {
  const output: ResponseOutputItem[] = []
  let input = ''
  for await (const event of events) {
    if (event.type === 'response.custom_tool_call_input.delta') input += event.delta
    if (event.type === 'response.output_item.done') output.push(event.item)
  }
  return { output, input }
}

describe.each(['chat', 'messages', 'gemini', 'bedrock'])('a provider of %s', name => {
  test.each([false, true])('patches a file for an agent of the Responses API and continues, streamed: %s', async stream => {
    const { client, sentCalls, sentResults } = await open(name)
    const input: ResponseInput = [{ role: 'user', content: 'Edit a.ts.' }]
    const request = { model: 'test-model', tools, store: false }
    const { output, input: told } = stream
      ? await streamed(await client.responses.create({ ...request, input, stream: true }))
      : { output: (await client.responses.create({ ...request, input })).output, input: patch }
    expect(told).toBe(patch)
    const call = output.find(item => item.type === 'custom_tool_call')
    expect(call).toMatchObject({ name: 'apply_patch', input: patch })
    if (!call) return
    const next = await client.responses.create({
      ...request,
      input: [...input, ...output, { type: 'custom_tool_call_output', call_id: call.call_id, output: 'Patched.' }] as ResponseInput,
    })
    expect(next.output_text).toBe('All done.')
    expect(sentCalls(1)).toMatchObject([{ name: 'apply_patch', arguments: JSON.stringify({ input: patch }) }])
    expect(sentResults(1)).toMatchObject([{ output: expect.stringContaining('Patched.') }])
    expect((next as unknown as { warnings: readonly JsonObject[] }).warnings).toMatchObject([{ param: 'tools[0].format' }])
  })
})

describe.each(['messages', 'gemini', 'bedrock'])('a provider of %s', name => {
  test('patches a file for a client of Chat Completions and continues', async () => {
    const { client, sentCalls } = await open(name)
    const request = {
      model: 'test-model',
      tools: [{ type: 'custom' as const, custom: { name: 'apply_patch', description: 'Edits files.' } }],
    }
    const user = { role: 'user' as const, content: 'Edit a.ts.' }
    const { choices } = await client.chat.completions.create({ ...request, messages: [user] })
    const message = choices[0]?.message
    const call = message?.tool_calls?.[0]
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    expect(call).toMatchObject({ type: 'custom', custom: { name: 'apply_patch', input: patch } })
    if (!message || !call) return
    const next = await client.chat.completions.create({
      ...request,
      messages: [user, message, { role: 'tool', tool_call_id: call.id, content: 'Patched.' }],
    })
    expect(next.choices[0]?.message.content).toBe('All done.')
    expect((next as unknown as { warnings?: unknown }).warnings).toBeUndefined()
    expect(sentCalls(1)).toMatchObject([{ name: 'apply_patch', arguments: JSON.stringify({ input: patch }) }])
  })
})

test('`strict` refuses a provider that cannot enforce the grammar, and names it', async () => {
  const { client, provider } = await open('messages')
  const request = { model: 'test-model', tools, input: 'Edit a.ts.', gateway: { routing: { strict: true } } }
  await expect(client.responses.create(request)).rejects.toMatchObject({ status: 400, param: 'tools[0].format' })
  expect(provider.calls).toHaveLength(0)
})
