import { describe, expect, test } from 'vitest'
import { bedrockRecordings } from '../../test/dialects/bedrock-wire.ts'
import { decode, describeProviderDialect, plain, readBackWith, type Sample, said } from '../../test/dialects/laws.ts'
import { haveRecordings, recordings, skipWithout } from '../../test/dialects/recordings.ts'
import { fold } from '../protocol/fold.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { bedrockProvider, chatProvider, geminiProvider, messagesProvider, responsesProvider } from './index.ts'

readBackWith(responsesProvider)

if (!haveRecordings) skipWithout('the recordings of real providers')

/** A Responses stream ends with the whole response of the same run. */
const samples: readonly Sample[] = recordings
  .filter(({ dialect }) => dialect === 'responses')
  .map(({ name, frames, text }) => {
    const last = frames.at(-1)?.data ?? '{}'
    const { response } = (last.endsWith('}') && isJson(last) ? JSON.parse(last) : {}) as { readonly response?: JsonObject }
    const whole = response && Array.isArray(response.output) && response.output.length > 0 ? response : undefined
    return { name, frames, text, ...(whole && { whole }) }
  })

function isJson(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

describeProviderDialect(responsesProvider, samples, { silent: {}, spelled: {} })

describeProviderDialect(
  chatProvider,
  recordings.filter(({ dialect }) => dialect === 'chat').map(({ name, frames, text }) => ({ name, frames, text })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: { max_output_tokens: 'max_completion_tokens', reasoning: 'reasoning_effort', top_logprobs: 'logprobs' },
  },
)

describeProviderDialect(
  geminiProvider,
  recordings.filter(({ dialect }) => dialect === 'gemini').map(({ name, frames, text }) => ({ name, frames, text })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: { instructions: 'systemInstruction', max_output_tokens: 'generationConfig', service_tier: 'serviceTier' },
  },
)

describeProviderDialect(
  messagesProvider,
  recordings.filter(({ dialect }) => dialect === 'messages').map(({ name, frames, text }) => ({ name, frames, text })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: {
      instructions: 'system',
      max_output_tokens: 'max_tokens',
      reasoning: 'thinking',
      stop: 'stop_sequences',
      user: 'metadata',
      safety_identifier: 'metadata',
    },
  },
)

describeProviderDialect(
  bedrockProvider,
  bedrockRecordings.map(({ name, frames, bytes }) => ({ name, frames, bytes, text: '' })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: {
      instructions: 'system',
      max_output_tokens: 'inferenceConfig',
      tools: 'toolConfig',
      reasoning: 'additionalModelRequestFields',
      service_tier: 'serviceTier',
      extensions: 'their_own',
    },
  },
)

describe.skipIf(!haveRecordings)('recorded chat streams', () => {
  test.each(recordings.filter(({ dialect }) => dialect === 'chat'))(
    '$name: the text equals that of its chunks, character by character',
    ({ frames }) => {
      const deltas = frames.flatMap(({ data }) =>
        data === '[DONE]' ? [] : ((JSON.parse(data) as JsonObject).choices as readonly JsonObject[]),
      )
      const text = deltas.map(({ delta, text: old }) => (isObject(delta) ? pieces(delta.content, 'text') : String(old))).join('')
      const reasoning = deltas
        .map(({ delta }) =>
          isObject(delta) ? `${delta.reasoning_content ?? delta.reasoning ?? ''}${pieces(delta.content, 'thinking')}` : '',
        )
        .join('')
      const { output } = fold(decode(chatProvider, frames))
      expect(
        output.flatMap(item => (item.type === 'message' ? item.content.map(part => (part.type === 'text' ? part.text : '')) : [])).join(''),
      ).toBe(text)
      expect(output.flatMap(item => (item.type === 'reasoning' ? (item.content ?? []) : [])).join('')).toBe(reasoning)
    },
  )

  test.each(['mistral/mistral-reasoning', 'mistral/mistral-tool-call'])(
    '%s: the whole and the streamed response of one run are equal',
    name => {
      const found = recordings.find(recording => recording.name === name)
      if (!found?.whole) throw new Error(`${name} is missing`)
      expect(said(chatProvider.decodeResponse(found.whole))).toEqual(said(fold(decode(chatProvider, found.frames))))
    },
  )

  test.each(recordings.filter(({ whole }) => whole !== undefined))('$name: the whole response can be decoded', ({ dialect, whole }) => {
    const provider = { chat: chatProvider, responses: responsesProvider, gemini: geminiProvider, messages: messagesProvider }[dialect]
    const { output, outcome, usage } = provider.decodeResponse(whole ?? {})
    if (outcome.status === 'failed') expect(outcome.error.kind).toBe('out_of_quota')
    else expect(plain({ items: output.length > 0, usage: (usage?.output_tokens ?? 0) > 0 })).toEqual({ items: true, usage: true })
  })
})

const pieces = (content: unknown, kind: 'text' | 'thinking'): string => {
  if (typeof content === 'string') return kind === 'text' ? content : ''
  if (!Array.isArray(content)) return ''
  return (content as readonly { readonly type: string; readonly text?: string; readonly thinking?: readonly { readonly text: string }[] }[])
    .filter(({ type }) => type === kind)
    .map(({ text, thinking }) => text ?? thinking?.map(inner => inner.text).join('') ?? '')
    .join('')
}
