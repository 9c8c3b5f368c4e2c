import type { JsonObject } from '../src/protocol/wire.ts'

// Every field of the three client dialects, each with a value that is not its default. Where a field means something only
// beside others, `beside` holds those.

export interface FieldSample {
  readonly field: string
  readonly body: JsonObject
  readonly beside?: JsonObject
  /** Why it may reach nobody and be named nowhere. */
  readonly silent?: string
}

const sample = (field: string, value: JsonObject[string], more: Partial<FieldSample> = {}): FieldSample => ({
  field,
  body: { [field]: value },
  ...more,
})

const image = 'data:image/png;base64,iVBORw0KGgo='
const pdf = 'data:application/pdf;base64,JVBERi0='
const schema: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }

const local = 'it is kept here: told back in the answer and in the request log'
const delivery = 'it decides how the answer comes, which is ours to do'
const hosted = 'it caps hosted tools, and there are none'
const told = 'where thoughts come in the raw, they are told as the summary'
const routing = 'it is an instruction to the gateway'

/** Alike in all three dialects. */
const ours: readonly FieldSample[] = [
  sample('gateway', { metadata: { colour: 'red' } }, { silent: routing }),
  sample('extensions', { their_own: 1 }),
  sample('unheard_of', { a: 1 }),
]

const responsesTool: JsonObject = { type: 'function', name: 'weather', parameters: schema }
const withResponsesTool: JsonObject = { tools: [responsesTool] }
const said = (...content: readonly JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] })
const turn = (...items: readonly JsonObject[]): JsonObject => ({ input: [{ role: 'user', content: 'Hi' }, ...items] })

export const responsesFields: readonly FieldSample[] = [
  ...ours,
  sample('instructions', 'Be brief.'),
  { field: 'input: image as bytes', body: said({ type: 'input_image', image_url: image }) },
  { field: 'input: image by address', body: said({ type: 'input_image', image_url: 'https://a.example/1.png' }) },
  { field: 'input: file as bytes', body: said({ type: 'input_file', filename: 'a.pdf', file_data: pdf }) },
  { field: 'input: file by address', body: said({ type: 'input_file', file_url: 'https://a.example/1.pdf' }) },
  { field: 'input: audio', body: said({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }) },
  { field: 'input: file by id', body: said({ type: 'input_text', text: 'Hi' }, { type: 'input_image', file_id: 'file-1' }) },
  {
    field: 'input: system in mid-conversation',
    body: turn({ role: 'assistant', content: 'Hello' }, { role: 'system', content: 'Now be brief.' }, { role: 'user', content: 'Go on' }),
  },
  { field: 'input: cache point', body: said({ type: 'input_text', text: 'Hi', prompt_cache_breakpoint: {} }) },
  {
    field: 'input: tool result with an image',
    body: turn(
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_image', image_url: image }] },
    ),
  },
  { field: 'input: a hosted call', body: turn({ type: 'web_search_call', id: 'ws_1', status: 'completed' }) },
  { field: 'input: a field that we do not know', body: said({ type: 'input_text', text: 'Hi', unheard_of: 1 }) },
  sample('tools', [responsesTool]),
  { field: 'tools: a field that we do not know', body: { tools: [{ ...responsesTool, defer_loading: true }] }, beside: withResponsesTool },
  { field: 'tools: strict', body: { tools: [{ ...responsesTool, strict: true }] }, beside: withResponsesTool },
  { field: 'tools: hosted', body: { tools: [responsesTool, { type: 'web_search' }] }, beside: withResponsesTool },
  sample('tool_choice', 'none', { beside: withResponsesTool }),
  sample('tool_choice', 'required', { beside: withResponsesTool }),
  sample('tool_choice', { type: 'function', name: 'weather' }, { beside: withResponsesTool }),
  sample('tool_choice', { type: 'allowed_tools', mode: 'auto', tools: [] }, { beside: withResponsesTool }),
  sample('parallel_tool_calls', false, { beside: withResponsesTool }),
  sample('max_output_tokens', 77),
  sample('max_tool_calls', 3, { silent: hosted }),
  sample('temperature', 0.3),
  sample('top_p', 0.4),
  sample('top_k', 5),
  sample('top_logprobs', 6),
  sample('frequency_penalty', 0.7),
  sample('presence_penalty', 0.8),
  { field: 'text.format: json_schema', body: { text: { format: { type: 'json_schema', name: 'x', schema } } } },
  { field: 'text.format: json_object', body: { text: { format: { type: 'json_object' } } } },
  { field: 'text.verbosity', body: { text: { verbosity: 'low' } } },
  { field: 'reasoning.effort', body: { reasoning: { effort: 'high' } } },
  { field: 'reasoning.summary', body: { reasoning: { summary: 'detailed' } }, silent: told },
  sample('truncation', 'auto'),
  sample('metadata', { colour: 'red' }, { silent: local }),
  sample('include', ['code_interpreter_call.outputs']),
  sample('user', 'somebody'),
  sample('safety_identifier', 'safe'),
  sample('prompt_cache_key', 'key'),
  sample('service_tier', 'priority'),
  sample('stream', true, { silent: delivery }),
  sample('stream_options', { include_obfuscation: false }, { silent: delivery }),
  sample('prompt_cache_retention', '24h'),
]

const chatTool: JsonObject = { type: 'function', function: { name: 'weather', parameters: schema } }
const withChatTool: JsonObject = { tools: [chatTool] }
const asked = (...content: readonly JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const talk = (...messages: readonly JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content: 'Hi' }, ...messages] })
const chatCall: JsonObject = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
}

export const chatFields: readonly FieldSample[] = [
  ...ours,
  {
    field: 'messages: system',
    body: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    },
  },
  { field: 'messages: image as bytes', body: asked({ type: 'image_url', image_url: { url: image } }) },
  { field: 'messages: image by address', body: asked({ type: 'image_url', image_url: { url: 'https://a.example/1.png' } }) },
  { field: 'messages: file as bytes', body: asked({ type: 'file', file: { filename: 'a.pdf', file_data: pdf } }) },
  { field: 'messages: audio', body: asked({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }) },
  { field: 'messages: a whole tool turn', body: talk(chatCall, { role: 'tool', tool_call_id: 'c1', content: 'seen' }) },
  { field: 'messages: name', body: { messages: [{ role: 'user', name: 'Ada', content: 'Hi' }] } },
  {
    field: 'messages: sound of the assistant',
    body: talk({ role: 'assistant', content: 'Hi', audio: { id: 'audio_1' } }, { role: 'user', content: 'Go on' }),
  },
  sample('tools', [chatTool]),
  {
    field: 'tools: strict',
    body: { tools: [{ type: 'function', function: { name: 'weather', parameters: schema, strict: true } }] },
    beside: withChatTool,
  },
  { field: 'tools: custom', body: { tools: [chatTool, { type: 'custom', custom: { name: 'patch' } }] }, beside: withChatTool },
  sample('tool_choice', 'none', { beside: withChatTool }),
  sample('tool_choice', 'required', { beside: withChatTool }),
  sample('tool_choice', { type: 'function', function: { name: 'weather' } }, { beside: withChatTool }),
  sample('parallel_tool_calls', false, { beside: withChatTool }),
  sample('max_completion_tokens', 77),
  sample('max_tokens', 78),
  sample('temperature', 0.3),
  sample('top_p', 0.4),
  sample('frequency_penalty', 0.7),
  sample('presence_penalty', 0.8),
  sample('stop', ['END']),
  sample('seed', 42),
  sample('logprobs', true),
  { field: 'top_logprobs', body: { logprobs: true, top_logprobs: 3 } },
  sample('logit_bias', { '50256': -100 }),
  sample('response_format', { type: 'json_schema', json_schema: { name: 'x', schema } }),
  sample('response_format', { type: 'json_object' }),
  sample('reasoning_effort', 'high'),
  sample('verbosity', 'low'),
  sample('modalities', ['text', 'audio']),
  sample('audio', { voice: 'alloy', format: 'wav' }),
  sample('prediction', { type: 'content', content: 'x' }),
  sample('web_search_options', {}),
  sample('service_tier', 'priority'),
  sample('metadata', { colour: 'red' }, { silent: local }),
  sample('user', 'somebody'),
  sample('safety_identifier', 'safe'),
  sample('prompt_cache_key', 'key'),
  sample('prompt_cache_retention', '24h'),
  sample('stream', true, { silent: delivery }),
  { field: 'stream_options', body: { stream: true, stream_options: { include_usage: true } }, silent: delivery },
  sample('n', 1, { silent: 'one answer is what there is' }),
]

const messagesTool: JsonObject = { name: 'weather', input_schema: schema }
const withMessagesTool: JsonObject = { tools: [messagesTool] }
const user = (...content: readonly JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const cache_control: JsonObject = { type: 'ephemeral' }

export const messagesFields: readonly FieldSample[] = [
  ...ours,
  sample('system', 'Be brief.'),
  { field: 'system: blocks', body: { system: [{ type: 'text', text: 'Be brief.' }] } },
  { field: 'system: cache point', body: { system: [{ type: 'text', text: 'Be brief.', cache_control }] } },
  {
    field: 'messages: image as bytes',
    body: user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }),
  },
  { field: 'messages: image by address', body: user({ type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } }) },
  {
    field: 'messages: document as bytes',
    body: user({ type: 'document', title: 'a', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } }),
  },
  { field: 'messages: document by address', body: user({ type: 'document', source: { type: 'url', url: 'https://a.example/1.pdf' } }) },
  {
    field: 'messages: document with citations',
    body: user({ type: 'document', context: 'c', citations: { enabled: true }, source: { type: 'url', url: 'https://a.example/1.pdf' } }),
  },
  { field: 'messages: cache point', body: user({ type: 'text', text: 'Hi', cache_control }) },
  {
    field: 'messages: a tool that failed',
    body: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'blind', is_error: true }] },
      ],
    },
  },
  {
    field: 'messages: search result',
    body: user({ type: 'text', text: 'Hi' }, { type: 'search_result', source: 's', title: 't', content: [] }),
  },
  sample('tools', [messagesTool]),
  { field: 'tools: examples', body: { tools: [{ ...messagesTool, input_examples: [{}] }] }, beside: withMessagesTool },
  { field: 'tools: cache point', body: { tools: [{ ...messagesTool, cache_control }] }, beside: withMessagesTool },
  { field: 'tools: strict', body: { tools: [{ ...messagesTool, strict: true }] }, beside: withMessagesTool },
  {
    field: 'tools: of a server',
    body: { tools: [messagesTool, { type: 'web_search_20250305', name: 'web_search' }] },
    beside: withMessagesTool,
  },
  sample('tool_choice', { type: 'any' }, { beside: withMessagesTool }),
  sample('tool_choice', { type: 'tool', name: 'weather' }, { beside: withMessagesTool }),
  sample('tool_choice', { type: 'none' }, { beside: withMessagesTool }),
  sample('tool_choice', { type: 'auto', disable_parallel_tool_use: true }, { beside: withMessagesTool }),
  sample('max_tokens', 4321),
  sample('temperature', 0.3),
  sample('top_p', 0.4),
  sample('top_k', 5),
  sample('stop_sequences', ['END']),
  sample('thinking', { type: 'enabled', budget_tokens: 1024 }),
  sample('thinking', { type: 'disabled' }),
  { field: 'thinking.display', body: { thinking: { type: 'adaptive', display: 'summarized' } }, silent: told },
  { field: 'output_config.effort', body: { output_config: { effort: 'high' } } },
  { field: 'output_config.format', body: { output_config: { format: { type: 'json_schema', schema } } } },
  sample('metadata', { user_id: 'somebody' }),
  sample('service_tier', 'standard_only', { silent: 'the ordinary tier is what everyone gives who is not asked' }),
  sample('cache_control', cache_control),
  sample('container', 'c_1'),
  sample('context_management', { edits: [] }),
  sample('mcp_servers', [{ type: 'url', url: 'https://a.example', name: 'x' }]),
  sample('stream', true, { silent: delivery }),
]
