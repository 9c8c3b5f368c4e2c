import { describe, expect, test } from 'vitest'
import { clientFor, clients, content, encode, eventStream, params, request, stream, streamed, whole } from '../../test/anthropic-sdk.ts'
import { decode, metadataOf, plain } from '../../test/laws.ts'
import { readStrictly } from '../../test/messages-client-reader.ts'
import { recordings } from '../../test/recordings.ts'
import { fold, unfold } from '../protocol/fold.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { messagesClient } from './client.ts'
import { messagesProvider } from './provider.ts'

const cases = recordings.flatMap(({ name, dialect, frames, whole: body }) => {
  const provider = providerDialects[dialect]
  return provider ? [{ name, provider, events: decode(provider, frames), body }] : []
})

describe('recorded responses of providers', () => {
  test.each(cases)('$name is the same streamed and whole', ({ events }) => {
    const answer = fold(events)
    if (answer.outcome.status === 'failed') {
      expect(readStrictly(encode(events)).error?.message).toBe(answer.outcome.error.message)
      return
    }
    const streamed = readStrictly(encode(events)).message
    const body = messagesClient.encodeResponse(answer, request, metadataOf())
    expect(content(streamed.content)).toEqual(content(body.content as readonly JsonObject[]))
    expect(streamed).toMatchObject({ stop_reason: body.stop_reason, id: body.id, model: body.model })
    expect(streamed.usage).toMatchObject(isObject(body.usage) ? body.usage : {})
    expect(readStrictly(encode(unfold(answer))).message.stop_reason).toBe(streamed.stop_reason)
  })

  describe.each(Object.keys(clients))('read by the Anthropic SDK %s', version => {
    test.each(cases)('$name', async ({ events }) => {
      const answer = fold(events)
      const text = stream(events)
      if (answer.outcome.status === 'failed') {
        await expect(streamed(version, text)).rejects.toThrow(answer.outcome.error.message.slice(0, 20))
        return
      }
      const body = messagesClient.encodeResponse(answer, request, metadataOf())
      const message = await streamed(version, text)
      expect(content(message.content)).toEqual(content(body.content as readonly JsonObject[]))
      expect(message.stop_reason).toBe(body.stop_reason)
    })

    test.each(cases.filter(({ body }) => body))('$name, whole', async ({ provider, body = {} }) => {
      const answer = provider.decodeResponse(body)
      if (answer.outcome.status === 'failed') return
      const message = await whole(version, messagesClient.encodeResponse(answer, request, metadataOf()))
      const texts = answer.output.flatMap(item => (item.type === 'message' ? item.content : []))
      expect(message.content.flatMap(block => (block.type === 'text' ? block.text : [])).join('')).toBe(
        texts.map(part => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : '')).join(''),
      )
      expect(message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(0)
    })
  })
})

/** Intended differences. */
const otherwise: Readonly<Record<string, string>> = {
  'anthropic/duplicate-message-start': 'the SDK stops at the second beginning, which we leave out',
  'anthropic/anthropic-refusal': 'the reason of the refusal is sent as text, too',
}
const native = recordings.filter(({ name, dialect }) => dialect === 'messages' && !(name in otherwise))

describe('a Messages response is passed on unchanged to a Messages client', () => {
  /** Signatures are the provider dialect's state by then, which the gateway seals. */
  const unsigned = (blocks: readonly object[]): unknown =>
    content(blocks.map(block => ('signature' in block || 'data' in block ? { ...block, signature: '', data: '' } : block)))

  test.each(native)('$name', async ({ text, frames }) => {
    const read = (sent: string) =>
      clientFor('v1', () => eventStream(sent))
        .beta.messages.stream(params)
        .finalMessage()
    const theirs = await read(text)
    const ours = await read(stream(decode(messagesProvider, frames)))
    expect(unsigned(ours.content)).toEqual(unsigned(theirs.content))
    const { content: _, id, model, usage, ...rest } = theirs
    expect(ours).toMatchObject({ ...plain(rest), usage: plain(usage) })
  })
})
