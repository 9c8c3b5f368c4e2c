import { expect, test } from 'vitest'
import { candidateOf, filtered, questionOf } from '../../../core/test/routing/routing-fixture.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import type { Provider } from '../protocol/provider.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'
import { paidFieldsOf } from './paid-tools.ts'

const chat = (fields: JsonObject) => chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields })
const responses = (tool: JsonObject) => responsesClient.decodeRequest({ model: 'm', input: 'Hi', tools: [tool] })
const searches = {
  web_search_options: {},
  plugins: [{ id: 'web' }],
  search_parameters: { mode: 'on' },
  enable_search: true,
  search_settings: { country: 'de' },
  compound_custom: { tools: {} },
  web_search: { enable: true },
}

test('fields of Chat Completions that make a provider run a tool are found, unless they are off', () => {
  expect(paidFieldsOf(chat(searches).prompt, 'chat')).toEqual(Object.keys(searches))
  for (const dialect of ['responses', 'messages', 'gemini', 'bedrock'] as const)
    expect(paidFieldsOf(chat({ extensions: { plugins: [{ id: 'web' }] } }).prompt, dialect)).toEqual(['extensions.plugins'])
  expect(paidFieldsOf(responsesClient.decodeRequest({ model: 'm', input: 'Hi', plugins: [{ id: 'web' }] }).prompt, 'responses')).toEqual([
    'plugins',
  ])
  const question = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  expect(paidFieldsOf(messagesClient.decodeRequest({ ...question, plugins: [{ id: 'web' }] }).prompt, 'messages')).toEqual(['plugins'])
  expect(paidFieldsOf(chat({ extensions: { plugins: [{ id: 'web' }] } }).prompt, 'chat')).toEqual(['extensions.plugins'])
  expect(paidFieldsOf(chat({ plugins: [], enable_search: false, web_search: { enable: false }, seed: 1 }).prompt, 'chat')).toEqual([])
})

test('a provider refuses tools without a price if its operator says so, but not with a key of the workspace', () => {
  const refusing: Partial<Provider> = { unpricedTools: 'refuse' }
  const why = (
    request: ReturnType<typeof chat>,
    { provider = refusing, owner = 'platform' as 'platform' | 'workspace', dialect = 'chat', tools = {} } = {},
  ) => {
    const made = candidateOf({ api: dialect, price: { input: 1, output: 1, tools } }, provider)
    const candidate = { ...made, credential: { ...made.credential, owner } }
    const [excluded] = filtered([candidate], questionOf(request)).excluded
    return excluded && [excluded.code, excluded.param]
  }
  const search = { enable_search: true }
  expect(why(chat(search))).toEqual(['operation_not_allowed', 'enable_search'])
  expect(why(chat(search), { provider: {} })).toBeUndefined()
  expect(why(chat(search), { owner: 'workspace' })).toBeUndefined()
  expect(why(responses({ type: 'web_search' }), { dialect: 'responses' })).toEqual(['operation_not_allowed', 'tools[0]'])
  expect(why(responses({ type: 'web_search' }), { dialect: 'responses', tools: { web_search: 10_000 } })).toBeUndefined()
  const search_tool = { type: 'web_search' }
  const group = { type: 'namespace', name: 'g', tools: [search_tool] }
  const added = (item: JsonObject) =>
    responsesClient.decodeRequest({
      model: 'm',
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'developer', ...item },
      ],
    })
  expect(why(responses(group), { dialect: 'responses' })).toEqual(['operation_not_allowed', 'tools[0].tools[0]'])
  const path = 'input[1].tools[0]'
  expect(why(added({ type: 'additional_tools', tools: [search_tool] }), { dialect: 'responses' })).toEqual(['operation_not_allowed', path])
  const found = { type: 'tool_search_output', call_id: 'c', execution: 'client', status: 'completed', tools: [search_tool] }
  expect(why(added(found), { dialect: 'responses' })).toEqual(['operation_not_allowed', path])
  const shell = (type: string) => responses({ type: 'shell', environment: { type } })
  expect(why(shell('container_auto'), { dialect: 'responses' })).toEqual(['operation_not_allowed', 'tools[0]'])
  expect(why(shell('local'), { dialect: 'responses' })).toBeUndefined()
  expect(why(responses({ type: 'function', name: 'f' }), { dialect: 'responses' })).toBeUndefined()
})

test('other names of the output cap are not sent, with a warning each', () => {
  const caps = ['max_new_tokens', 'max_length', 'max_output_tokens', 'maxOutputTokens', 'n_predict', 'num_predict', 'max_tokens_to_sample']
  const body = Object.fromEntries(caps.map(name => [name, 99_999]))
  for (const request of [chat({ ...body, max_tokens: 50 }), chat({ extensions: body, max_tokens: 50 })])
    for (const dialect of Object.values(providerDialects)) {
      const offer = { provider: 'p', model: 'm', api: dialect.name }
      const { body: sent, warnings } = dialect.encodeRequest(request, offer, {})
      expect(JSON.stringify(sent)).not.toContain('99999')
      expect(warnings.length).toBeGreaterThanOrEqual(caps.length)
    }
})

test('fields by which a provider that is a gateway chooses model, provider or further fields are not sent, with a warning each', () => {
  const fields = {
    providerOptions: { gateway: { models: ['mark'], order: ['mark'] } },
    provider_options: { gateway: { models: ['mark'] } },
    preset: 'mark',
    extra_body: { plugins: ['mark'] },
    extraBody: { plugins: ['mark'] },
  }
  const question = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const requests = (body: JsonObject) => [
    chat(body),
    responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...body }),
    messagesClient.decodeRequest({ ...question, ...body }),
  ]
  for (const request of [...requests(fields), ...requests({ extensions: fields })])
    for (const dialect of Object.values(providerDialects)) {
      const { body: sent, warnings } = dialect.encodeRequest(request, { provider: 'p', model: 'm', api: dialect.name }, {})
      expect(JSON.stringify(sent)).not.toContain('mark')
      expect(warnings.length).toBeGreaterThanOrEqual(Object.keys(fields).length)
    }
})
