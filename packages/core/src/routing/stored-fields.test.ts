import { chatClient, messagesClient, responsesClient } from '@signalbox/dialects'
import type { ClientDialect, InferenceRequest, Json, JsonObject, Provider } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { candidateOf, filtered, questionOf } from '../../test/routing/routing-fixture.ts'
import type { Demands } from './needs.ts'
import { storedFieldOf } from './stored-fields.ts'

const image = 'https://example.com/a.png'
const ask = (client: ClientDialect, body: JsonObject): InferenceRequest => client.decodeRequest({ model: 'm', ...body })

const responses = (part: JsonObject) => ask(responsesClient, { input: [{ role: 'user', content: [part] }] })
const responsesTool = (tool: JsonObject) => ask(responsesClient, { input: 'Hi', tools: [tool] })
const chat = (part: JsonObject, more: JsonObject = {}) => ask(chatClient, { messages: [{ role: 'user', content: [part] }], ...more })
const messages = (part: JsonObject, more: JsonObject = {}) =>
  ask(messagesClient, { max_tokens: 9, messages: [{ role: 'user', content: [part] }], ...more })
const text = { type: 'text', text: 'Hi' }
const file = { type: 'file', file_id: 'file-1' }

const alone = (message: JsonObject) => ask(chatClient, { messages: [{ role: 'user', content: 'Hi' }, message] })
const answered = (block: JsonObject) =>
  ask(messagesClient, {
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [block] },
    ],
  })
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }

const stored: readonly (readonly [param: string, InferenceRequest])[] = [
  ['input[0].content[0].file_id', responses({ type: 'input_file', file_id: 'file-1' })],
  ['input[0].content[0].file_id', responses({ type: 'input_image', file_id: 'file-1' })],
  ['input[0].content[0].file_id', responses({ type: 'input_image', image_url: image, file_id: 'file-1' })],
  ['input[0].content[0]', responses({ type: 'input_file', file_url: 'gs://any-bucket/private.pdf' })],
  ['input[0].content[0]', responses({ type: 'input_file', file_url: 's3://any-bucket/private.pdf' })],
  ['input[0].content[0]', responses({ type: 'input_image', image_url: 'file:///etc/passwd' })],
  ['input[0].content[0]', responses({ type: 'input_image', image_url: 'ms://file-1' })],
  ['input[0].content[0]', responses({ type: 'input_file', file_url: 'https://generativelanguage.googleapis.com/v1beta/files/abc' })],
  ['input[0].content[0]', responses({ type: 'input_file', file_url: 'HTTPS://x@generativelanguage.googleapis.com:443/v1beta/files/abc' })],
  ...[
    'https:/generativelanguage.googleapis.com/v1beta/files/abc',
    'https:\\\\generativelanguage.googleapis.com/v1beta/files/abc',
    'https://example.com\\@generativelanguage.googleapis.com/v1beta/files/abc',
    'https://generative\tlanguage.google\napis.com/v1beta/files/abc',
    'https://generativelanguage%2egoogleapis.com/v1beta/files/abc',
    'https://generativelanguage\u3002googleapis.com./v1beta/files/abc',
    'https://\uff47enerative\u00adlanguage.googleapis.com/v1beta/files/abc',
    'https://generativelanguage.mtls.googleapis.com/v1beta/files/abc',
    'https://us-generativelanguage.googleapis.com?x',
    `https://${'a'.repeat(1e4)}@generativelanguage.googleapis.com/v1beta/files/abc`,
    `https://${'\t'.repeat(1e4)}generativelanguage.googleapis.com/v1beta/files/abc`,
    // With time by the square of the length, one of these takes hours.
    `https://${'generativelanguage.googleapis.com'.repeat(2e5)}`,
    `https://${'\u4e00\u4e01'.repeat(3e6)}`,
  ].map(url => ['input[0].content[0]', responses({ type: 'input_file', file_url: url })] as const),
  [
    'input[1].output[0].file_id',
    ask(responsesClient, {
      input: [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', file_id: 'file-1' }] },
      ],
    }),
  ],
  [
    'input[0].output.file_id',
    ask(responsesClient, {
      input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'file-1' } }],
    }),
  ],
  ['tools[0].vector_store_ids', responsesTool({ type: 'file_search', vector_store_ids: ['vs_1'] })],
  ['tools[0].container', responsesTool({ type: 'code_interpreter', container: 'cntr_1' })],
  ['tools[0].container.file_ids', responsesTool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } })],
  ['tools[0].environment.container_id', responsesTool({ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } })],
  [
    'tools[0].environment.skills[0].skill_id',
    responsesTool({ type: 'shell', environment: { type: 'container_auto', skills: [{ type: 'skill_reference', skill_id: 's' }] } }),
  ],
  ['tools[0].input_image_mask.file_id', responsesTool({ type: 'image_generation', input_image_mask: { file_id: 'file-1' } })],
  ['messages[0].content[0].file.file_id', chat({ type: 'file', file: { file_id: 'file-1' } })],
  ['messages[0].content[0]', chat({ type: 'image_url', image_url: { url: 'gs://bucket/a.png' } })],
  ['audio.voice', chat(text, { audio: { voice: { id: 'voice_1' }, format: 'wav' } })],
  ...[null, 'Hi'].map(
    content =>
      [
        'messages[1].audio',
        ask(chatClient, {
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content, audio: { id: 'audio_1' } },
            { role: 'user', content: 'And?' },
          ],
        }),
      ] as const,
  ),
  ['messages[0].content[0].video_url.url', chat({ type: 'video_url', video_url: { url: 'ms://FILE' } })],
  ['messages[0].content[0].video', chat({ type: 'video', video: [image, 'oss://a.png'] })],
  ['messages[0].content[0].document_url', chat({ type: 'document_url', document_url: 'gs://bucket/a.pdf' })],
  ['messages[0].content[0].file_url.url', chat({ type: 'file_url', file_url: { url: 'oss://a.pdf' } })],
  ['messages[0].content[0].file.file_data', chat({ type: 'file', file: { file_data: 'oss://a.pdf' } })],
  ['messages[0].content[0]', chat({ type: 'input_audio', input_audio: { data: 'oss://a.wav', format: 'wav' } })],
  [
    'messages[0].content[0].video_url.url',
    chat({ type: 'video_url', video_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }),
  ],
  ['messages[1].images[0].image_url.url', alone({ role: 'assistant', images: [{ type: 'image_url', image_url: { url: 'oss://a.png' } }] })],
  ['messages[1].content[0].video_url.url', alone({ role: 'assistant', content: [{ type: 'video_url', video_url: { url: 'ms://FILE' } }] })],
  ['messages[1].content[0].file.file_id', alone({ role: 'assistant', content: [{ type: 'file', file: { file_id: 'file-1' } }] })],
  ['messages[1].audio', alone({ role: 'assistant', content: null, tool_calls: [call], audio: { id: 'audio_1' } })],
  ['messages[1].audio', alone({ role: 'assistant', reasoning_content: 'Hm', tool_calls: [call, call], audio: { id: 'audio_1' } })],
  ['messages[1].audio', alone({ role: 'assistant', content: null, function_call: call.function, audio: { id: 'audio_1' } })],
  ['messages[1].file_ids', alone({ role: 'user', content: 'Hi', file_ids: ['file-1'] })],
  ['data_sources', chat(text, { data_sources: [{ type: 'azure_search', parameters: {} }] })],
  ['tools[0].retrieval.knowledge_id', chat(text, { tools: [{ type: 'retrieval', retrieval: { knowledge_id: 'k' } }] })],
  ...(['agent_id', 'conversation_id', 'preset'] as const).map(name => [name, chat(text, { [name]: 'a' })] as const),
  ['extra_body.google.cached_content', chat(text, { extra_body: { google: { cached_content: 'cachedContents/1' } } })],
  [
    'tools[0].azure_ai_search.indexes[0].project_connection_id',
    responsesTool({ type: 'azure_ai_search', azure_ai_search: { indexes: [{ project_connection_id: 'c', index_name: 'i' }] } }),
  ],
  ['tools[0].memory_store_name', responsesTool({ type: 'memory_search', memory_store_name: 'm', scope: 'user_1' })],
  [
    'tools[0].openapi.auth',
    responsesTool({
      type: 'openapi',
      openapi: { name: 'a', spec: {}, auth: { type: 'managed_identity', security_scheme: { audience: 'x' } } },
    }),
  ],
  ['tools[0].openapi.auth', responsesTool({ type: 'openapi', openapi: { spec: {}, auth: { type: 'connection' } } })],
  ['tools[0].browser.connection_id', responsesTool({ type: 'browser_automation_preview', browser: { connection_id: 'c' } })],
  [
    'tools[0].azure_function.input_binding.storage_queue',
    responsesTool({
      type: 'azure_function',
      azure_function: { input_binding: { type: 'storage_queue', storage_queue: { queue_name: 'q' } } },
    }),
  ],
  ['agent', ask(responsesClient, { input: 'Hi', agent: { type: 'agent_reference', name: 'a' } })],
  ['extensions.modelArmorConfig', messages(text, { extensions: { modelArmorConfig: { promptTemplateName: 't' } } })],
  [
    'extensions.guardrailConfig.guardrailIdentifier',
    messages(text, { extensions: { guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' } } }),
  ],
  ...['input_file', 'input_image'].map(
    type =>
      ['input[0].content[0].file_id', ask(responsesClient, { input: [{ role: 'assistant', content: [{ type, file_id: 'f' }] }] })] as const,
  ),
  ['input[0].file_id', ask(responsesClient, { input: [{ type: 'input_file', id: 'x_1', file_id: 'file-1' }] })],
  ['messages[1].content[0].file_id', answered({ type: 'container_upload', file_id: 'file-1' })],
  ['messages[1].content[0].source.file_id', answered({ type: 'document', source: file })],
  ['messages[1].content[0].source.file_id', answered({ type: 'image', source: file })],
  ['messages[0].content[0].source.file_id', messages({ type: 'document', source: file })],
  ['messages[0].content[0].source.file_id', messages({ type: 'image', source: file })],
  ['messages[0].content[0].file_id', messages({ type: 'container_upload', file_id: 'file-1' })],
  [
    'messages[0].content[0].source.content[0].source.file_id',
    messages({ type: 'document', source: { type: 'content', content: [{ type: 'image', source: file }] } }),
  ],
  ['container', messages(text, { container: 'container_1' })],
  ['container', messages(text, { container: { id: 'container_1' } })],
  ['container.skills[0].skill_id', messages(text, { container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } })],
  ['messages[0].content', chat(text, { messages: [{ role: 'system', content: 'fileid://file-fe-1,fileid://file-fe-2' }] })],
  ['messages[0].content', chat(text, { messages: [{ role: 'system', content: 'FILEID://x' }] })],
  [
    'messages[0].content',
    chat(text, { messages: [{ role: 'developer', content: ['See fileid:', '//file-fe-1'].map(each => ({ ...text, text: each })) }] }),
  ],
  ['instructions', ask(responsesClient, { input: 'Hi', instructions: 'fileid://file-fe-1' })],
  ['extensions.tool_options.datastore', messages(text, { extensions: { tool_options: { datastore: 'projects/p/datastores/d' } } })],
]

const open: readonly (readonly [what: string, InferenceRequest])[] = [
  ['text', responses({ type: 'input_text', text: 'file_id: file-1, gs://bucket' })],
  ['the same address in the text of a user', responses({ type: 'input_text', text: 'What is fileid://file-fe-1?' })],
  ['an image at an address', responses({ type: 'input_image', image_url: image })],
  ['a long address', responses({ type: 'input_image', image_url: `https://example.com?${'example.com'.repeat(1e4)}` })],
  ['a host in another script', responses({ type: 'input_image', image_url: 'https://\u4f8b\u3048.jp/a.png' })],
  ['bytes of audio', chat({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })],
  ['a video at an address', chat({ type: 'video_url', video_url: { url: image } })],
  ['the text of a document', messages({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Note: gs://bucket' } })],
  ["the client's own metadata", chat(text, { metadata: { agent_id: 'a', conversation_id: 'c' } })],
  ["a preset of Perplexity's own", messages(text, { extensions: { preset: 'pro-search' } })],
  ['the arguments of a call', answered({ type: 'tool_use', id: 't', name: 'f', input: { file_id: 'file-1', url: 'gs://bucket' } })],
  [
    'a file that the code of an earlier answer wrote',
    answered({
      type: 'bash_code_execution_tool_result',
      tool_use_id: 't',
      content: { type: 'bash_code_execution_result', content: [{ type: 'bash_code_execution_output', file_id: 'file-1' }] },
    }),
  ],
  ['bytes of a file', responses({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' })],
  [
    'an address that contains the name of a file host',
    responses({ type: 'input_image', image_url: `${image}?of=generativelanguage.googleapis.com/v1` }),
  ],
  ['a container that is made for the request', responsesTool({ type: 'code_interpreter', container: { type: 'auto' } })],
  ["a skill of the vendor's", messages(text, { container: { skills: [{ type: 'anthropic', skill_id: 'xlsx' }] } })],
  ['a voice of the vendor', chat(text, { audio: { voice: 'alloy', format: 'wav' } })],
  [
    'a function with a parameter of that name',
    responsesTool({ type: 'function', name: 'f', parameters: { properties: { file_id: { default: 'x' }, container: { const: 'x' } } } }),
  ],
  [
    'a record of an earlier answer',
    ask(responsesClient, {
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: 'cntr_1', status: 'completed', outputs: null },
      ],
    }),
  ],
]

describe('what is stored at a provider', () => {
  test.each(stored)('is found at %s (%#)', (param, { prompt }) => {
    expect(storedFieldOf(prompt)).toBe(param)
  })

  test.each(open)('is not %s', (_, { prompt }) => {
    expect(storedFieldOf(prompt)).toBeUndefined()
  })
})

describe('a request that names something stored', () => {
  const request = responses({ type: 'input_file', file_id: 'file-1' })
  const excluded = (owner: 'platform' | 'workspace', provider: Partial<Provider> = {}, demands: Demands = {}): Json => {
    const made = candidateOf({ api: 'responses' }, provider)
    const candidate = { ...made, credential: { ...made.credential, owner } }
    const [reason] = filtered([candidate], questionOf(request, { demands })).excluded
    return reason ? [reason.code, reason.param ?? ''] : null
  }
  const refused = ['operation_not_allowed', 'input[0].content[0].file_id']

  test("goes to no credential of the operator's, unless its provider allows that, and to keys of the workspace", () => {
    expect(excluded('platform')).toEqual(refused)
    expect(excluded('platform', { providerStorage: true })).toBeNull()
    expect(excluded('workspace')).toBeNull()
  })

  test('goes nowhere for a user whom the app does not allow it', () => {
    for (const owner of ['platform', 'workspace'] as const)
      expect(excluded(owner, { providerStorage: true }, { no_stored_fields: true })).toEqual(refused)
  })
})
