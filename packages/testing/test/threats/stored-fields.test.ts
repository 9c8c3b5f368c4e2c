import { createApi } from '@signalbox/api'
import type { Transport } from '@signalbox/dialects/protocol'
import { createGateway } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, onTestFinished, test } from 'vitest'
import { answerWriters } from '../../src/answers/index.ts'
import { ask } from '../matrix/asking.ts'
import { bytesOf, scriptedTransport } from '../scripted-transport.ts'

// What is stored in the operator's account at a provider is not open to every key and every page that knows or guesses a name.

const operators = 'sk-operator-0123456789'
const theirs = 'sk-theirs-0123456789'
const { whole } = answerWriters.chat.write({ text: 'Here.', usage: { input: 12, output: 3 } }, { model: 'm', includeUsage: true })

async function testbed({ providerStorage = false, hasOwnKey = false } = {}) {
  const called: string[] = []
  const transport: Transport = request => {
    if (request.method === 'POST') called.push(request.headers.authorization?.replace('Bearer ', '') ?? '')
    const body = request.method === 'POST' ? whole : { object: 'list', data: [] }
    return scriptedTransport(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      pieces: [bytesOf(JSON.stringify(body))],
    }))(request)
  }
  const gateway = createGateway({
    providers: [{ ...compatible({ id: 'vendor', baseURL: 'https://vendor.example/v1', apiKey: operators }), providerStorage }],
    models: [{ id: 'm', offers: [{ provider: 'vendor', model: 'm', api: 'chat', price: { input: 1e6, output: 1e6 } }] }],
    storage: memoryStorage(),
    sealingKey: new Uint8Array(32).fill(7),
    transport,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  })
  onTestFinished(() => gateway.close())
  await gateway.workspaces.create({ id: 'w', name: 'W', billing: 'postpaid' })
  const own = gateway.workspaces('w')
  const { secret } = await own.apiKeys.create({ name: 'all', scopes: '*' })
  const api = createApi(gateway)
  if (hasOwnKey) await own.byokKeys.create({ provider: 'vendor', apiKey: theirs, name: 'main' })
  const content = [{ type: 'file', file: { file_id: 'file-1' } }]
  const chat = async (key = secret, messages: readonly object[] = [{ role: 'user', content }]) => {
    const body = { model: 'm', messages }
    const { status, json } = await ask({ api, secret: key }, 'POST /v1/chat/completions', { body })
    return status === 200 ? called.splice(0) : [status, json.error.code, json.error.param]
  }
  return { own, chat, called }
}

const refused = [403, 'operation_not_allowed', 'messages[0].content[0].file.file_id']

test("an id of a file is refused with the operator's credential, and sent where the operator allows it", async () => {
  const closed = await testbed()
  expect(await closed.chat()).toEqual(refused)
  expect(closed.called).toEqual([])
  expect(await (await testbed({ providerStorage: true })).chat()).toEqual([operators])
})

test.each([
  ['messages[0].content[0].video_url.url', { role: 'user', content: [{ type: 'video_url', video_url: { url: 'ms://FILE' } }] }],
  ['messages[0].content[0].video_url.url', { role: 'assistant', content: [{ type: 'video_url', video_url: { url: 'ms://FILE' } }] }],
  ['messages[0].content[0]', { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'oss://a.wav', format: 'wav' } }] }],
  ['messages[0].audio', { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f' } }], audio: { id: 'a' } }],
])('so is what %s names (%#)', async (param, message) => {
  const { chat, called } = await testbed()
  expect(await chat(undefined, [message])).toEqual([403, 'operation_not_allowed', param])
  expect(called).toEqual([])
})

test("an id of a file is sent with a provider key of the workspace, and never with the operator's after it", async () => {
  const { chat } = await testbed({ hasOwnKey: true })
  expect(await chat()).toEqual([theirs])
})

test('the token of a session sends it only if the session was created so, and its provider takes it from keys too', async () => {
  const tokenOf = async ({ own }: Awaited<ReturnType<typeof testbed>>, providerStorage?: boolean) =>
    (await own.sessions.create({ user: 'u', ...(providerStorage !== undefined && { providerStorage }) })).token
  const allowed = await testbed({ providerStorage: true })
  expect(await allowed.chat(await tokenOf(allowed))).toEqual(refused)
  expect(await allowed.chat(await tokenOf(allowed, true))).toEqual([operators])
  const withKey = await testbed({ hasOwnKey: true })
  expect(await withKey.chat(await tokenOf(withKey))).toEqual(refused)
  expect(await withKey.chat(await tokenOf(withKey, true))).toEqual([theirs])
  const closed = await testbed()
  expect(await closed.chat(await tokenOf(closed, true))).toEqual(refused)
})
