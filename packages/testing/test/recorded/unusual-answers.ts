import type { Json, JsonObject } from '@signalbox/dialects/protocol'
import type { Recording } from '../../src/recorded.ts'
import { bedrockChunks, chatChunks, geminiChunks, messagesChunks, responsesChunks } from './unusual-streams.ts'

// Responses that their dialects allow and that no recording has, each whole and as a stream of the same content: parallel calls whose pieces
// alternate, null fields, unknown types, every kind of citation and of hosted tool, reasons to stop that have no name here.

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAE='
const large = JSON.stringify({ text: 'word "quoted" \\ \u{1F600} '.repeat(8_000) })
const usage = { input_tokens: 11, output_tokens: 7 }

interface Unusual {
  readonly name: string
  readonly dialect: Recording['dialect']
  readonly whole: JsonObject
  readonly chunks: readonly JsonObject[]
}

const response = (name: string, output: readonly JsonObject[], beside: JsonObject = {}): Unusual => {
  const base = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', error: null, incomplete_details: null, status: 'completed' }
  const whole = { ...base, output, usage: { ...usage, total_tokens: 18 }, ...beside }
  return { name, dialect: 'responses', whole, chunks: responsesChunks(whole, output) }
}
const said = (id: string, ...content: readonly JsonObject[]): JsonObject => ({
  ...{ type: 'message', id, role: 'assistant', status: 'completed' },
  content,
})
const text = (words: string, annotations: readonly JsonObject[] = []): JsonObject => ({
  ...{ type: 'output_text', text: words, annotations },
  logprobs: [],
})
const call = (id: string, name: string, written: string): JsonObject => ({
  ...{ type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name, arguments: written, status: 'completed' },
})

const completion = (name: string, message: JsonObject, [finish_reason, beside = {}]: readonly [string, JsonObject?]): Unusual => {
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, prompt_tokens_details: null }
  const choice = { index: 0, message: { role: 'assistant', content: null, refusal: null, ...message }, finish_reason, ...beside }
  const whole = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage, system_fingerprint: null }
  return { name, dialect: 'chat', whole, chunks: chatChunks(message, [finish_reason, beside], usage) }
}

const message = (
  name: string,
  content: readonly JsonObject[],
  [stop_reason, stop_sequence = null]: readonly [string, string?] | readonly [string, null] = ['end_turn', null],
): Unusual => {
  const whole = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason, stop_sequence, usage }
  return { name, dialect: 'messages', whole, chunks: messagesChunks(content, { stop_reason, stop_sequence }, usage) }
}

const candidate = (name: string, parts: readonly JsonObject[], end: JsonObject = {}): Unusual => {
  const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }
  const whole = { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP', ...end }], usageMetadata }
  return { name, dialect: 'gemini', whole, chunks: geminiChunks(parts, { finishReason: 'STOP', ...end }, usageMetadata) }
}

const converse = (name: string, content: readonly JsonObject[], stopReason = 'end_turn'): Unusual => {
  const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18 }
  const whole = { output: { message: { role: 'assistant', content } }, stopReason, usage, metrics: { latencyMs: 1 } }
  return { name, dialect: 'bedrock', whole, chunks: bedrockChunks(content, stopReason, usage) }
}

const cited = (type: string, facts: JsonObject): JsonObject => ({ type, ...facts })
const location = (type: string, facts: JsonObject): JsonObject => ({
  type,
  cited_text: 'x',
  document_index: 0,
  document_title: null,
  ...facts,
})

const ofResponses: readonly Unusual[] = [
  response('parallel calls after a word', [
    said('m1', text('I will look.')),
    call('a', 'look', '{"x":1}'),
    call('b', 'list', '{}'),
    call('c', 'write', large),
  ]),
  response('a refusal beside text', [said('m1', text('First.'), { type: 'refusal', refusal: 'I will not.' })]),
  response('citations of every kind', [
    said(
      'm1',
      text('See the sources.', [
        cited('url_citation', { url: 'https://a.example/1', title: 'A', start_index: 0, end_index: 3 }),
        cited('file_citation', { file_id: 'file_1', filename: 'a.pdf', index: 3 }),
        cited('container_file_citation', { container_id: 'c', file_id: 'cf', filename: 'b.csv', start_index: 0, end_index: 3 }),
        cited('file_path', { file_id: 'file_2', index: 3 }),
        cited('scent_citation', { of: 'roses' }),
      ]),
    ),
  ]),
  response('two messages of two phases', [
    { ...said('m1', text('Working.')), phase: 'commentary' },
    { ...said('m2', text('')), phase: null },
    { ...said('m3', text(' Done.')), phase: 'final_answer' },
  ]),
  response('hosted tools of every kind', [
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q', sources: null } },
    { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['q'], results: null },
    {
      type: 'code_interpreter_call',
      id: 'ci_1',
      status: 'completed',
      code: '1',
      container_id: 'c',
      outputs: [{ type: 'logs', logs: '1' }],
    },
    { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 's', tools: [] },
    { type: 'mcp_call', id: 'mcp_1', name: 'n', arguments: '{}', server_label: 's', output: 'o', error: null },
    { type: 'hologram', id: 'h_1', status: 'completed', depth: null },
    said('m1', text('All done.')),
  ]),
  response('calls that the client carries out', [
    { type: 'local_shell_call', id: 'l_1', call_id: 'c1', status: 'completed', action: { type: 'exec', command: ['ls'], env: {} } },
    { type: 'shell_call', id: 's_1', call_id: 'c2', status: 'completed', action: { commands: ['ls'], timeout_ms: null } },
    { type: 'apply_patch_call', id: 'p_1', call_id: 'c3', status: 'completed', operation: { type: 'delete_file', path: 'a' } },
    { type: 'computer_call', id: 'u_1', call_id: 'c4', status: 'completed', action: { type: 'screenshot' }, pending_safety_checks: [] },
  ]),
  response('an approval', [
    { type: 'mcp_approval_request', id: 'mcpr_1', name: 'n', arguments: '{}', server_label: 's' },
    said('m1', text('May I?')),
  ]),
  response('an image that was not made', [
    { type: 'image_generation_call', id: 'ig_1', status: 'failed', result: null },
    said('m1', text('Sorry.')),
  ]),
  response('an image', [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: png, output_format: 'png' }]),
  response('a call of a custom tool', [{ type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'patch', input: '*** "Begin"\n\\' }]),
  response('a compaction of the vendor', [said('m1', text('So far.')), { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' }]),
  response('cut by a filter', [{ ...said('m1', text('Half a')), status: 'incomplete' }], {
    status: 'incomplete',
    incomplete_details: { reason: 'content_filter' },
  }),
  response('cut for a reason without a name', [{ ...said('m1', text('Half a')), status: 'incomplete' }], {
    status: 'incomplete',
    incomplete_details: { reason: 'weariness' },
  }),
]

const tool = (id: string, name: string, written: Json): JsonObject => ({ id, type: 'function', function: { name, arguments: written } })
const ofChat: readonly Unusual[] = [
  completion(
    'parallel calls after a word',
    { content: 'Let me look.', tool_calls: [tool('a', 'look', '{"x":1}'), tool('b', 'list', '{}')] },
    ['tool_calls'],
  ),
  completion('large arguments', { tool_calls: [tool('a', 'write', large)] }, ['tool_calls']),
  completion('a refusal', { refusal: 'I will not.' }, ['stop']),
  completion('log probabilities', { content: 'Yes' }, [
    'stop',
    { logprobs: { content: [{ token: 'Yes', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null } },
  ]),
  completion(
    'a citation',
    {
      content: 'See it.',
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/1', title: 'A', start_index: 0, end_index: 3 } }],
    },
    ['stop'],
  ),
  completion('reasoning', { reasoning_content: 'Hm.', content: 'Yes.' }, ['stop']),
  completion('cut by a filter', { content: 'Half a' }, ['content_filter']),
  completion('cut for a reason without a name', { content: 'Half a' }, ['weariness']),
  completion('null wherever it may be', { content: 'Yes.', tool_calls: null, function_call: null, annotations: null, audio: null }, [
    'stop',
  ]),
  completion('sound', { content: 'Hear:', audio: { id: 'a', data: png, transcript: 'Hi', expires_at: 1 } }, ['stop']),
  completion('an image', { content: 'See:', images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] }, [
    'stop',
  ]),
  completion('a call of an unknown type', { content: 'Wait.', tool_calls: [{ id: 'x', type: 'mcp', mcp: { name: 'find' } }] }, [
    'tool_calls',
  ]),
]

const ofMessages: readonly Unusual[] = [
  message(
    'thoughts, sealed thoughts and parallel calls',
    [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'toolu_a', name: 'look', input: { x: 1 } },
      { type: 'tool_use', id: 'toolu_b', name: 'list', input: {} },
    ],
    ['tool_use'],
  ),
  message('citations of every kind', [
    {
      type: 'text',
      text: 'Green.',
      citations: [
        location('char_location', { start_char_index: 0, end_char_index: 3 }),
        location('page_location', { start_page_number: 1, end_page_number: 2 }),
        location('content_block_location', { start_block_index: 0, end_block_index: 1 }),
        { type: 'web_search_result_location', cited_text: 'x', url: 'https://a.example/1', title: null, encrypted_index: 'e' },
        { ...location('search_result_location', { start_block_index: 0, end_block_index: 1 }), source: 'https://b.example', title: 'B' },
        { type: 'scent_location', of: 'roses' },
      ],
    },
  ]),
  message('hosted tools of every kind', [
    { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'q' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srv_1',
      content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A' }],
    },
    { type: 'server_tool_use', id: 'srv_2', name: 'code_execution', input: { code: '1' } },
    { type: 'code_execution_tool_result', tool_use_id: 'srv_2', content: { type: 'code_execution_result', stdout: '1', return_code: 0 } },
    { type: 'mcp_tool_use', id: 'mcp_1', name: 'find', server_name: 's', input: {} },
    { type: 'mcp_tool_result', tool_use_id: 'mcp_1', is_error: false, content: [{ type: 'text', text: 'r' }] },
    { type: 'text', text: 'All done.' },
  ]),
  message(
    'a pause',
    [
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'q' } },
      { type: 'text', text: 'Wait.' },
    ],
    ['pause_turn'],
  ),
  message('a stop text', [{ type: 'text', text: 'One, two,' }], ['stop_sequence', 'three']),
  message('the end of the context', [{ type: 'text', text: 'Half a' }], ['model_context_window_exceeded']),
  message('a refusal', [{ type: 'text', text: 'Half a' }], ['refusal']),
  message('a reason without a name', [{ type: 'text', text: 'Half a' }], ['weariness']),
  message('a summary of the conversation', [
    { type: 'compaction', content: 'A summary in words.' },
    { type: 'text', text: 'Go on.' },
  ]),
  message('large arguments', [{ type: 'tool_use', id: 'toolu_a', name: 'write', input: JSON.parse(large) as JsonObject }], ['tool_use']),
  message(
    'an empty text before a call',
    [
      { type: 'text', text: '' },
      { type: 'tool_use', id: 'toolu_a', name: 'look', input: {} },
    ],
    ['tool_use'],
  ),
]

const ofGemini: readonly Unusual[] = [
  candidate('thoughts and parallel calls', [
    { text: 'Hm.', thought: true },
    { text: 'Let me look.' },
    { functionCall: { name: 'look', args: { x: 1 } }, thoughtSignature: 'c2ln' },
    { functionCall: { id: 'own', name: 'list', args: {} } },
  ]),
  candidate(
    'code, pages and sources',
    [
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { text: 'It is one.' },
    ],
    {
      groundingMetadata: { webSearchQueries: ['one'], searchEntryPoint: { renderedContent: '<div>' } },
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://a.example' }] },
    },
  ),
  candidate('an image and sound', [
    { text: 'See:' },
    { inlineData: { mimeType: 'image/png', data: png } },
    { inlineData: { mimeType: 'audio/wav', data: png } },
  ]),
  candidate('a file at an address', [{ text: 'See:' }, { fileData: { mimeType: 'video/mp4', fileUri: 'https://a.example/1.mp4' } }]),
  candidate('cut by a filter', [{ text: 'Half a' }], {
    finishReason: 'SAFETY',
    safetyRatings: [{ category: 'C', probability: 'HIGH', blocked: true }],
  }),
  candidate('recitation', [{ text: 'Half a' }], { finishReason: 'RECITATION' }),
  candidate('a reason without a name', [{ text: 'Half a' }], { finishReason: 'WEARINESS' }),
  candidate('parts of nothing', [{ text: '' }, { text: 'Yes.' }, { text: '', thoughtSignature: 'c2ln' }]),
]

const ofBedrock: readonly Unusual[] = [
  converse(
    'thoughts and parallel calls',
    [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
      { text: 'Let me look.' },
      { toolUse: { toolUseId: 'a', name: 'look', input: { x: 1 } } },
      { toolUse: { toolUseId: 'b', name: 'list', input: {} } },
    ],
    'tool_use',
  ),
  converse('cut by a guardrail', [{ text: 'Half a' }], 'guardrail_intervened'),
  converse('a stop text', [{ text: 'One, two,' }], 'stop_sequence'),
  converse('a reason without a name', [{ text: 'Half a' }], 'weariness'),
]

const stream = (name: string, dialect: Recording['dialect'], ...chunks: readonly JsonObject[]): Recording => ({
  ...{ vendor: `unusual ${dialect} stream`, name, dialect },
  chunks: chunks.map(body => JSON.stringify(body)),
})
const chunk = (delta: JsonObject, finish_reason: string | null = null, beside: JsonObject = {}): JsonObject => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
  ...beside,
})
const tokens = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const started = { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage } }
const counts = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }
const finished = (output: readonly JsonObject[]): JsonObject => ({
  type: 'response.completed',
  response: { id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'm', output, usage: { ...usage, total_tokens: 18 } },
})
const done = (item: JsonObject, output_index: number): JsonObject => ({ type: 'response.output_item.done', output_index, item })

/** Streams that other servers of each dialect send. */
const bareStreams: readonly Recording[] = [
  stream(
    'usage with every chunk',
    'chat',
    chunk({ content: 'Yes' }, null, { usage: { ...tokens, completion_tokens: 1, total_tokens: 12 } }),
    chunk({ content: '.' }, 'stop', { usage: tokens }),
  ),
  stream('usage in a field of the server', 'chat', chunk({ content: 'Yes.' }), chunk({}, 'stop', { x_groq: { id: 'r', usage: tokens } })),
  stream(
    'usage without choices before the end',
    'chat',
    chunk({ content: 'Yes' }),
    { id: 'c', object: 'chat.completion.chunk', choices: [], usage: tokens },
    chunk({ content: '.' }, 'stop'),
  ),
  stream(
    'calls in one piece, with their end',
    'chat',
    chunk(
      {
        content: null,
        tool_calls: [
          { index: 0, ...tool('a', 'look', '{"x":1}') },
          { index: 1, ...tool('b', 'list', '{}') },
        ],
      },
      'tool_calls',
      { usage: tokens },
    ),
  ),
  stream(
    'calls without an index',
    'chat',
    chunk({ tool_calls: [tool('a', 'look', '{"x":1}')] }),
    chunk({ tool_calls: [{ ...tool('b', 'list', '{}'), index: 1 }] }, 'tool_calls', { usage: tokens }),
  ),
  stream(
    'deltas of null',
    'chat',
    chunk({ role: null, content: null, tool_calls: null }),
    chunk({ content: 'Yes.', reasoning_content: null, refusal: null }),
    chunk({ content: null }, 'stop', { usage: tokens, error: null }),
  ),
  stream(
    'items without deltas',
    'responses',
    done(said('m1', text('Yes.')), 0),
    done(call('a', 'look', '{}'), 1),
    finished([said('m1', text('Yes.')), call('a', 'look', '{}')]),
  ),
  stream('an end without its items', 'responses', done(said('m1', text('Yes.')), 0), finished([])),
  stream('an end alone', 'responses', finished([said('m1', text('Yes.')), call('a', 'look', '{}')])),
  stream(
    'usage at the start alone',
    'messages',
    started,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ),
  stream(
    'a call whose input is there at its start',
    'messages',
    started,
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'look', input: { x: 1 } } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ),
  stream(
    'arguments of null',
    'gemini',
    { candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'list', args: null } }] } }] },
    { candidates: [{ finishReason: 'STOP' }], usageMetadata: counts },
  ),
  stream(
    'usage at the start alone',
    'gemini',
    { candidates: [{ content: { parts: [{ text: 'Yes' }], role: 'model' } }], usageMetadata: counts },
    { candidates: [{ content: { parts: [{ text: '.' }] }, finishReason: 'STOP' }] },
  ),
]

const withBothForms = [...ofResponses, ...ofChat, ...ofMessages, ...ofGemini, ...ofBedrock].map(
  ({ name, dialect, whole, chunks }): Recording => ({
    ...{ vendor: `unusual ${dialect}`, name, dialect, whole },
    chunks: chunks.map(body => JSON.stringify(body)),
  }),
)

export const unusualAnswers: readonly Recording[] = [...withBothForms, ...bareStreams]
