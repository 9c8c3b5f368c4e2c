import { describe, expect, test } from 'vitest'
import { decode, plain, said } from '../test/laws.ts'
import { recordings } from '../test/recordings.ts'
import { chatProvider } from './chat/provider.ts'
import { geminiProvider } from './gemini/provider.ts'
import { messagesProvider } from './messages/provider.ts'
import { fold } from './protocol/fold.ts'
import { isObject, type JsonObject } from './protocol/wire.ts'
import { responsesProvider } from './responses/provider.ts'

describe('recorded chat streams', () => {
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
