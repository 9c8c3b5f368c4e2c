import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shareOf } from '../share-of.ts'
import { streamHoldings, wholeHoldings } from './holdings.ts'
import { clientDialects, type Player, player, silentLosses, upstreamOf } from './player.ts'
import type { ClientDialectName } from './received.ts'
import { unusualAnswers } from './unusual-answers.ts'

// Unusual responses in every client dialect, whole and streamed: nothing is dropped silently, both are equal, and the vendors' SDKs
// read them.

let playing: Player
beforeAll(async () => {
  playing = await player()
})
afterAll(() => playing.close())

/** How an answer ends, in the fields of each dialect. */
const endings: Readonly<Record<ClientDialectName, RegExp>> = {
  responses: /"incomplete_details":(null|\{[^}]*\})/g,
  chat: /"finish_reason":"[a-z_]+"/g,
  messages: /"stop_reason":"[a-z_]+"/g,
}

const served = (raw: string, type: string) => async (): Promise<Response> => new Response(raw, { headers: { 'content-type': type } })
const sse = 'text/event-stream'

/** The text that the vendor's SDK reads of a stream. */
const readers: Readonly<Record<ClientDialectName, (raw: string) => Promise<string>>> = {
  async responses(raw) {
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://x.test/v1', fetch: served(raw, sse), maxRetries: 0 })
    const { output } = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse()
    const parts = output.flatMap(item => (item.type === 'message' ? item.content : []))
    return parts.map(part => (part.type === 'refusal' ? part.refusal : part.text)).join('')
  },
  async chat(raw) {
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://x.test/v1', fetch: served(raw, sse), maxRetries: 0 })
    const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
    const { content, refusal } = (await stream.finalChatCompletion()).choices[0]?.message ?? expect.fail('no choice')
    return `${content ?? ''}${refusal ?? ''}`
  },
  async messages(raw) {
    const client = new Anthropic({ apiKey: 'k', baseURL: 'http://x.test', fetch: served(raw, sse), maxRetries: 0 })
    const stream = client.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
    return (await stream.finalMessage()).content.map(block => (block.type === 'text' ? block.text : '')).join('')
  },
}

const additions = /\[The model answered with [^\]]*\]|!\[image\]\([^)]*\)/g

describe.each(unusualAnswers.map(recording => ({ recording, label: `${recording.vendor}, ${recording.name}` })))(
  '$label',
  ({ recording }) => {
    const clients = shareOf(clientDialects, unusualAnswers.indexOf(recording), 3)
    test.each(clients)('is complete for a client of %s', async clientDialect => {
      const whole = await playing.ask(clientDialect, recording, false)
      const streamed = await playing.ask(clientDialect, recording, true)
      const inStream = streamHoldings(recording)
      for (const [reply, held] of [
        [whole, recording.whole ? wholeHoldings(recording) : inStream],
        [streamed, inStream],
      ] as const) {
        expect(reply.status).toBe(200)
        expect(reply.text).toBe(held.text)
        const isObjectInput = clientDialect === 'messages'
        expect(reply.calls).toEqual(
          held.calls.map(({ name, input }) => ({ name, input: isObjectInput && typeof input === 'string' ? { input } : input })),
        )
        expect(reply.usage).toEqual({ input: 11, output: 7 })
        expect(silentLosses(held, reply, clientDialect === upstreamOf(recording))).toEqual([])
      }
      const endOf = (raw: string): string | undefined => raw.match(endings[clientDialect])?.at(-1)
      expect(endOf(streamed.raw)).toBe(endOf(whole.raw))
      expect([...streamed.warnings].toSorted()).toEqual([...whole.warnings].toSorted())
      // The SDK does not support this call; a client of the provider's own dialect receives it unchanged.
      if (recording.name === 'a call of an unknown type' && clientDialect === 'chat') return
      expect((await readers[clientDialect](streamed.raw)).replace(additions, '').trim()).toBe(inStream.text.trim())
    })
  },
)
