import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import { type AnswerContent, type AnswerRequest, type AnswerUsage, type AnswerWriter, created, pieces, usageOf } from './answer.ts'

const done: Frame = { data: '[DONE]' }
const frame = (body: JsonObject): Frame => ({ data: JSON.stringify(body) })

const chunk = (request: AnswerRequest, rest: JsonObject): Frame =>
  frame({
    id: 'chatcmpl-chaos',
    object: 'chat.completion.chunk',
    created,
    model: request.model,
    ...rest,
    ...(request.includeUsage && !('usage' in rest) && { usage: null }),
  })

const delta = (request: AnswerRequest, told: JsonObject, finish: string | null = null): Frame =>
  chunk(request, { choices: [{ index: 0, delta: told, finish_reason: finish, logprobs: null }] })

const usageObject = (usage: Required<AnswerUsage>): JsonObject => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
})

const finishOf = (script: AnswerContent): string => script.finish ?? (script.tools?.length ? 'tool_calls' : 'stop')

function content(script: AnswerContent, request: AnswerRequest): readonly Frame[] {
  return [
    ...pieces(script.reasoning ?? '').map(text => delta(request, { reasoning_content: text })),
    ...pieces(script.text ?? '').map(text => delta(request, { content: text })),
    ...pieces(script.refusal ?? '').map(text => delta(request, { refusal: text })),
    ...(script.tools ?? []).flatMap((tool, index) => [
      delta(request, {
        tool_calls: [{ index, id: tool.id ?? `call_${index + 1}`, type: 'function', function: { name: tool.name, arguments: '' } }],
      }),
      ...pieces(tool.arguments).map(text => delta(request, { tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
  ]
}

const whole = (script: AnswerContent, request: AnswerRequest): JsonObject => {
  const usage = usageOf(script)
  return {
    id: 'chatcmpl-chaos',
    object: 'chat.completion',
    created,
    model: request.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: script.text ?? null,
          refusal: script.refusal ?? null,
          ...(script.reasoning !== undefined && { reasoning_content: script.reasoning }),
          ...(script.tools && {
            tool_calls: script.tools.map(({ id, ...tool }, index) => ({ id: id ?? `call_${index + 1}`, type: 'function', function: tool })),
          }),
        },
        finish_reason: finishOf(script),
        logprobs: null,
      },
    ],
    ...(usage && { usage: usageObject(usage) }),
  }
}

/** OpenAI's Chat Completions API. */
export const chatWriter: AnswerWriter = {
  path: '/v1/chat/completions',
  write(script, request) {
    const usage = usageOf(script)
    return {
      whole: whole(script, request),
      opening: [delta(request, { role: 'assistant', content: '' })],
      content: content(script, request),
      closing: [
        delta(request, {}, finishOf(script)),
        ...(usage && request.includeUsage ? [chunk(request, { choices: [], usage: usageObject(usage) })] : []),
        done,
      ],
    }
  },
  error: trouble => ({ error: { message: trouble.message, type: trouble.type, param: trouble.param ?? null, code: trouble.code } }),
  errorFrames: trouble => [frame(chatWriter.error(trouble))],
  failed: trouble => chatWriter.error(trouble),
  textFrame: (text, request) => delta(request, { content: text }),
  unknownFrame: request => chunk(request, { object: 'chat.completion.future', choices: [], future: { kind: 'unheard-of' } }),
}
