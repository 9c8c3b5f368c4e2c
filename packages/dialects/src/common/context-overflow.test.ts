import { describe, expect, test } from 'vitest'
import { errorIn as errorInBedrock } from '../bedrock/errors.ts'
import { bedrockProvider } from '../bedrock/provider.ts'
import { errorOf as errorInChat } from '../chat/errors.ts'
import { chatProvider } from '../chat/provider.ts'
import { errorIn as errorInGemini } from '../gemini/errors.ts'
import { geminiProvider } from '../gemini/provider.ts'
import { errorIn as errorInMessages } from '../messages/errors.ts'
import { messagesProvider } from '../messages/provider.ts'
import type { FailureKind } from '../protocol/failure.ts'
import type { Json } from '../protocol/wire.ts'
import { failureOfEvent } from '../responses/errors.ts'
import { responsesProvider } from '../responses/provider.ts'

const dialects = { chatProvider, responsesProvider, messagesProvider, geminiProvider, bedrockProvider }
const kindsOf = (status: number, body: Json, headers: Readonly<Record<string, string>> = {}): ReadonlySet<FailureKind> =>
  new Set(
    Object.values(dialects).map(
      ({ decodeFailure }) => decodeFailure({ status, body: JSON.stringify(body), header: name => headers[name], now: 0 }).kind,
    ),
  )

/** What servers say of a prompt that is too long: [server, source, status, body]. */
const overflows: readonly (readonly [server: string, status: number, body: Json])[] = [
  // ggml-org/llama.cpp#15780
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message: 'request (70123 tokens) exceeds the available context size (65536 tokens), try increasing it',
        type: 'exceed_context_size_error',
      },
    },
  ],
  // cline/cline#3120
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 65536 but the request contains 70123 tokens.",
    },
  ],
  // The others are from earendil-works/pi#4943 and BerriAI/litellm#10793.
  [
    'Kimi',
    400,
    {
      error: {
        message: 'Invalid request: Your request exceeded model token limit: 65536 (requested: 70123)',
        type: 'invalid_request_error',
      },
    },
  ],
  [
    'Copilot',
    400,
    {
      error: {
        message: 'prompt token count of 70123 exceeds the limit of 65536',
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
  ],
  ['Copilot, the code alone', 400, { error: { message: 'Bad request', code: 'model_max_prompt_tokens_exceeded' } }],
  [
    'vLLM',
    400,
    {
      object: 'error',
      message: 'The decoder prompt (length 70123) is longer than the maximum model length of 65536. Make sure that it fits.',
      type: 'BadRequestError',
      code: 400,
    },
  ],
  [
    'TGI',
    422,
    {
      error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65536. Given: 70123 `inputs` tokens and 20',
      error_type: 'validation',
    },
  ],
  ['Poolside', 400, { error: { message: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens' } }],
  ['Model Studio', 400, { error: { message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]' } }],
  ['OpenAI', 400, { error: { message: "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens." } }],
  ['Anthropic', 400, { error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } }],
  ['Gemini, by bytes', 400, { error: { code: 400, message: 'Request payload size exceeds the limit: 20971520 bytes.' } }],
  ['z.ai', 400, { error: { code: '1261', message: 'Prompt exceeds max length' } }],
  ['a server without a status of its own', 500, { error: 'the input length exceeds the context size' }],
]

test.each(overflows)('a prompt that is too long for %s is too long, in every dialect', (_, status, body) => {
  expect(kindsOf(status, body)).toEqual(new Set(['too_long']))
})

test.each(overflows)('and within a stream of %s, where there is no status', (_, __, body) => {
  const wire = body as { readonly error?: Json }
  const error = wire.error ?? body
  expect(errorInChat({ object: 'error', ...wire })?.kind).toBe('too_long')
  expect(errorInMessages({ type: 'error', error })?.kind).toBe('too_long')
  expect(errorInGemini({ error })?.kind).toBe('too_long')
  expect(failureOfEvent({ type: 'error', error }).kind).toBe('too_long')
  expect(errorInBedrock(wire).kind).toBe('too_long')
})

test.each([
  'temperature exceeds the limit of 2',
  'Invalid request: max_tokens 100000 exceeds the limit of 8192 tokens',
  'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model',
  'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
  'The maximum tokens you requested exceeds the model limit of 4096.',
  'Prompt length must be greater than 0.',
  'The request contains 200 tools, which exceeds the maximum of 128.',
  'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes',
  'messages.0.content.0.image.source: At least one of the image dimensions exceed max allowed size: 8000 pixels',
  'The input audio length exceeds 600 seconds.',
  'The number of stop sequences exceeds the limit of 4',
  'The request exceeds the limit of 30000 input tokens per minute.',
])('a refusal that is not about the length of the prompt stays a refusal: %s', message => {
  expect(kindsOf(400, { error: { message } })).toEqual(new Set(['rejected']))
})

test('a text that is too long is an overflow only if it is not a name or an id', () => {
  const tooLong = (where: string, limit: number): Json => ({
    error: {
      code: 'string_above_max_length',
      message: `Invalid '${where}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${limit + 1} instead.`,
    },
  })
  expect(kindsOf(400, tooLong('messages[0].content', 10_485_760))).toEqual(new Set(['too_long']))
  expect(kindsOf(400, tooLong('tools[0].function.name', 64))).toEqual(new Set(['rejected']))
})

describe('a rate limit', () => {
  const limited = (message: string): Json => ({ error: { message, type: 'tokens', code: 'rate_limit_exceeded' } })
  const on = (name: string, rest: string): string => `${name} m in organization org-x on tokens per min (TPM): ${rest}`

  // TheR1D/shell_gpt#653, agent0ai/agent-zero#711
  test.each([
    [429, on('Request too large for', 'Limit 30000, Requested 31538. The input or output tokens must be reduced.')],
    [413, on('Request too large for model', 'Limit 30000, Requested 31538, please reduce your message size and try again.')],
    [429, on('Rate limit reached for', 'Limit 30,000, Used 0, Requested 31,538.')],
  ])('that is smaller than the request alone can never let it pass: %i %s', (status, message) => {
    expect(kindsOf(status, limited(message))).toEqual(new Set(['too_long']))
    expect(errorInChat({ error: { message, type: 'tokens', code: 'rate_limit_exceeded' } })?.kind).toBe('too_long')
  })

  test.each([
    on('Rate limit reached for', 'Limit 30000, Used 29500, Requested 5000. Please try again in 9s.'),
    on('Rate limit reached for', 'Limit 30000, Used 30000, Requested 30000. Please try again in 60s.'),
    on('Rate limit reached for', 'Limit 0, Used 0, Requested 12.'),
    'Rate limit reached for m on requests per min (RPM): Limit 3, Used 3, Requested 4. Please try again in 20s.',
    'This request would exceed your organization’s rate limit of 30,000 input tokens per minute.',
  ])('that passes with time stays a rate limit: %s', message => {
    expect(kindsOf(429, limited(message))).toEqual(new Set(['rate_limited']))
  })
})
