import { chatProvider } from '@signalbox/dialects'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { afterEach, describe, expect, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { chaosProvider } from '../src/chaos-provider.ts'
import { fakeClock } from '../src/fake-clock.ts'
import { type TestGateway, testGateway } from '../src/gateway.ts'
import { acts, scriptedProvider } from '../src/scripted-provider.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close()
})
const keep = <T extends { close(): Promise<void> }>(thing: T): T => {
  closing.unshift(thing)
  return thing
}

const request = (model: string, delivery: 'whole' | 'stream' = 'whole'): InferenceRequest => ({
  prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Tell me about signals.' }] }] },
  routing: { models: [model], allow_fallbacks: true },
  delivery,
})

const textOf = async ({ gateway, caller }: TestGateway, model: string, delivery?: 'stream'): Promise<unknown> => {
  const { output } = await gateway.infer(request(model, delivery), { caller }).whole()
  return output.map(item =>
    item.type === 'message' ? item.content.map(part => (part.type === 'text' ? part.text : part.type)) : item.type,
  )
}

describe('the test gateway', () => {
  test.each(['chat', 'responses'] as const)('has servers of dialect %s, with a model for every script and every fault', async dialect => {
    const [first, second] = [keep(await chaosProvider()), keep(await chaosProvider())]
    const testbed = keep(await testGateway({ servers: [first, second], dialect }))
    expect(await textOf(testbed, 'test-model')).toEqual([[defaultText]])
    expect(await textOf(testbed, 'say:reasoning', 'stream')).toEqual(['reasoning', [defaultText]])
    expect(second.requests).toEqual([])
    expect(await textOf(testbed, 'fault:html-200')).toEqual([[defaultText]])
    expect([first.requests.at(-1)?.fault, second.requests.length]).toEqual(['html-200', 1])
  })

  test('has credit, a key with every scope, and consistent accounts', async () => {
    const testbed = keep(await testGateway({ servers: [keep(await chaosProvider())], credit: 5_000_000 }))
    const { gateway, caller, secret } = testbed
    expect((await gateway.authenticate(secret)).keyId).toBe(caller.keyId)
    await textOf(testbed, 'test-model')
    const { balance, held, spent } = await gateway.workspaces(caller.workspaceId).billing.balance()
    expect(spent).toBeGreaterThan(0)
    expect([balance + spent, held]).toEqual([5_000_000, 0])
  })

  test('runs scripts on its own clock', async () => {
    const clock = fakeClock()
    const slow = scriptedProvider({ id: 'slow', dialect: chatProvider, clock, acts: [acts.stall(600_000)] })
    const quick = scriptedProvider({ id: 'quick', dialect: chatProvider, clock })
    const testbed = keep(await testGateway({ providers: [slow, quick], clock }))
    const answer = textOf(testbed, 'test-model')
    await clock.advance(300_000)
    expect(await answer).toEqual([[defaultText]])
    expect(slow.calls[0]).toMatchObject({ aborted: true, finished: false })
    expect(quick.calls).toMatchObject([{ aborted: false, finished: true }])
  })
})

test.each([
  ['a `transformRequest` that never answers', { transformRequest: () => new Promise<never>(() => {}) }],
  ['a store that never sets money aside', { storage: deafTo('ledger', 'reserve') }],
  ['a store that never settles', { storage: deafTo('ledger', 'settle') }],
])('%s does not keep a gateway from closing', async (_, options) => {
  const clock = fakeClock()
  const { gateway, caller } = await testGateway({
    ...options,
    clock,
    providers: [scriptedProvider({ id: 'one', dialect: chatProvider, clock })],
  })
  const asked = gateway.infer(request('test-model', 'stream'), { caller })
  asked.whole().catch(() => {})
  await clock.advance(1_000)
  let isClosed = false
  const closed = gateway.close().then(() => {
    isClosed = true
  })
  await clock.advance(120_000)
  expect(isClosed).toBe(true)
  await closed
})

/** A store one of whose verbs never answers. */
function deafTo(part: 'ledger', verb: string): Storage {
  const kept = memoryStorage()
  return { ...kept, [part]: { ...kept[part], [verb]: () => new Promise(() => {}) } }
}
