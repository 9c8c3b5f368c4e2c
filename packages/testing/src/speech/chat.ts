import type { Frame, JsonObject } from '@signalbox/core/protocol'
import { type Asked, created, pieces, type Speech, type SpokenUsage, type Tongue, usageOf } from './speech.ts'

const done: Frame = { data: '[DONE]' }
const frame = (body: JsonObject): Frame => ({ data: JSON.stringify(body) })

const chunk = (asked: Asked, rest: JsonObject): Frame =>
  frame({
    id: 'chatcmpl-chaos',
    object: 'chat.completion.chunk',
    created,
    model: asked.model,
    ...rest,
    ...(asked.includeUsage && !('usage' in rest) && { usage: null }),
  })

const delta = (asked: Asked, told: JsonObject, finish: string | null = null): Frame =>
  chunk(asked, { choices: [{ index: 0, delta: told, finish_reason: finish, logprobs: null }] })

const usageObject = (usage: Required<SpokenUsage>): JsonObject => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
})

const finishOf = (speech: Speech): string => speech.finish ?? (speech.tools?.length ? 'tool_calls' : 'stop')

function content(speech: Speech, asked: Asked): readonly Frame[] {
  return [
    ...pieces(speech.reasoning ?? '').map(text => delta(asked, { reasoning_content: text })),
    ...pieces(speech.text ?? '').map(text => delta(asked, { content: text })),
    ...pieces(speech.refusal ?? '').map(text => delta(asked, { refusal: text })),
    ...(speech.tools ?? []).flatMap((tool, index) => [
      delta(asked, {
        tool_calls: [{ index, id: tool.id ?? `call_${index + 1}`, type: 'function', function: { name: tool.name, arguments: '' } }],
      }),
      ...pieces(tool.arguments).map(text => delta(asked, { tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
  ]
}

const whole = (speech: Speech, asked: Asked): JsonObject => {
  const usage = usageOf(speech)
  return {
    id: 'chatcmpl-chaos',
    object: 'chat.completion',
    created,
    model: asked.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: speech.text ?? null,
          refusal: speech.refusal ?? null,
          ...(speech.reasoning !== undefined && { reasoning_content: speech.reasoning }),
          ...(speech.tools && {
            tool_calls: speech.tools.map(({ id, ...tool }, index) => ({ id: id ?? `call_${index + 1}`, type: 'function', function: tool })),
          }),
        },
        finish_reason: finishOf(speech),
        logprobs: null,
      },
    ],
    ...(usage && { usage: usageObject(usage) }),
  }
}

/** Chat Completions, as OpenAI speaks it. */
export const chatTongue: Tongue = {
  path: '/v1/chat/completions',
  tell(speech, asked) {
    const usage = usageOf(speech)
    return {
      whole: whole(speech, asked),
      opening: [delta(asked, { role: 'assistant', content: '' })],
      content: content(speech, asked),
      closing: [
        delta(asked, {}, finishOf(speech)),
        ...(usage && asked.includeUsage ? [chunk(asked, { choices: [], usage: usageObject(usage) })] : []),
        done,
      ],
    }
  },
  error: trouble => ({ error: { message: trouble.message, type: trouble.type, param: trouble.param ?? null, code: trouble.code } }),
  errorFrames: trouble => [frame(chatTongue.error(trouble))],
  failed: trouble => chatTongue.error(trouble),
  textFrame: (text, asked) => delta(asked, { content: text }),
  strangeFrame: asked => chunk(asked, { object: 'chat.completion.future', choices: [], future: { kind: 'unheard-of' } }),
}
