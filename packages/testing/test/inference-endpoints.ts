import { expect } from 'vitest'

/** An inference endpoint as a client sees it, so that one test can run on each. */
export interface Endpoint {
  readonly path: string
  readonly valid: Readonly<Record<string, unknown>>
  /** A full request, to be broken in one place. */
  readonly rich: Readonly<Record<string, unknown>>
  /** The field that holds the conversation. */
  readonly conversation: string
  /** What ends a stream, once. Absent: there are none. */
  readonly terminal?: RegExp
  /** The body of an error, in this endpoint's own shape. */
  readonly isError: (body: unknown) => void
}

const schema = { type: 'object', properties: { city: { type: 'string', description: 'A city.' } }, required: ['city'] }
const gateway = { routing: { timeout_ms: 1000, deadline_ms: 5000, allow_fallbacks: true, order: ['sim'] }, metadata: { c: 'd' } }
const pixel = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const openaiError = (body: unknown): void =>
  expect(body).toEqual({
    error: expect.objectContaining({
      message: expect.any(String),
      type: expect.any(String),
      code: expect.any(String),
      param: expect.toBeOneOf([null, expect.any(String)]),
    }),
  })

const messagesError = (body: unknown): void =>
  expect(body).toEqual({
    type: 'error',
    error: expect.objectContaining({
      message: expect.any(String),
      type: expect.stringMatching(/_error$|^request_too_large$/),
      code: expect.any(String),
    }),
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })

const conversation = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel.slice(22) } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Rain is likely.' }, title: 'Report' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Look.', signature: 'x' },
      { type: 'tool_use', id: 't1', name: 'f', input: { city: 'Bern' } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'Rain.' }], is_error: false }] },
  { role: 'assistant', content: 'Rain.' },
  { role: 'user', content: 'Thanks.' },
]

const counted = {
  model: 'm',
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: conversation,
  tools: [{ name: 'f', description: 'd', input_schema: schema, strict: false }],
  tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: 'low', format: { type: 'json_schema', schema } },
  gateway,
}

export const endpoints: readonly Endpoint[] = [
  {
    path: '/v1/responses',
    valid: { model: 'm', input: 'hi' },
    conversation: 'input',
    terminal: /^event: response\.completed$/gm,
    isError: openaiError,
    rich: {
      model: 'm',
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Weather?' },
            { type: 'input_image', image_url: pixel, detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Look.' }], encrypted_content: 'x' },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'Rain.' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Rain.', annotations: [] }] },
      ],
      tools: [{ type: 'function', name: 'f', description: 'd', parameters: schema, strict: false }],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: true,
      max_output_tokens: 100,
      temperature: 1,
      top_p: 0.5,
      text: { format: { type: 'json_schema', name: 's', schema, strict: true } },
      reasoning: { effort: 'low', summary: 'auto' },
      metadata: { a: 'b' },
      include: ['reasoning.encrypted_content'],
      stream: false,
      gateway,
    },
  },
  {
    path: '/v1/chat/completions',
    valid: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    conversation: 'messages',
    terminal: /^data: \[DONE\]$/gm,
    isError: openaiError,
    rich: {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'Weather?' },
            { type: 'image_url', image_url: { url: pixel, detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'Look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Rain.' },
        { role: 'assistant', content: [{ type: 'text', text: 'Rain.' }], refusal: null },
        { role: 'user', content: 'Thanks.' },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: false } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: true,
      max_completion_tokens: 100,
      temperature: 1,
      top_p: 0.5,
      stop: ['END'],
      seed: 7,
      n: 1,
      logprobs: false,
      response_format: { type: 'json_schema', json_schema: { name: 's', schema, strict: true } },
      reasoning_effort: 'low',
      stream: false,
      stream_options: { include_usage: true },
      metadata: { a: 'b' },
      gateway,
    },
  },
  {
    path: '/v1/messages',
    valid: { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    conversation: 'messages',
    terminal: /^event: message_stop$/gm,
    isError: messagesError,
    rich: {
      ...counted,
      max_tokens: 100,
      stop_sequences: ['END'],
      temperature: 1,
      top_p: 0.5,
      top_k: 5,
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      stream: false,
    },
  },
  {
    path: '/v1/messages/count_tokens',
    valid: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    conversation: 'messages',
    isError: messagesError,
    rich: counted,
  },
]
