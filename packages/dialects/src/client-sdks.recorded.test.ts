import { describe, expect, test } from 'vitest'
import { decode, encode, withoutStrangers } from '../test/laws.ts'
import { clientFor, clients, eventStream, readBy } from '../test/openai-sdk.ts'
import { recordings } from '../test/recordings.ts'
import type { ProviderDialect } from './protocol/dialect.ts'
import { fold, unfold } from './protocol/fold.ts'
import { providerDialects } from './providers.ts'
import { writeFrames } from './sse/write.ts'

// The vendor's SDKs are the strictest readers of our streams: they throw on an unknown event, a changed id, a part that was never opened,
// or an item that was never closed.

const dialectOf = (name: string): ProviderDialect => {
  const dialect = providerDialects[name]
  if (!dialect) throw new Error(`no dialect ${name}`)
  return dialect
}

describe.each(Object.keys(clients))('openai %s', version => {
  const cases = readBy(recordings, version).map(recording => ({
    ...recording,
    events: decode(dialectOf(recording.dialect), recording.frames),
  }))

  const streamed = (text: string) =>
    clientFor(version, () => eventStream(text))
      .responses.stream({ model: 'm', input: 'x' })
      .finalResponse()

  test.each(cases)('$name', async ({ events }) => {
    const response = fold(events)
    const text = writeFrames(encode(events))
    if (response.outcome.status === 'failed') {
      await expect(streamed(text)).rejects.toThrow(response.outcome.error.message)
      return
    }
    const final = await streamed(text)
    expect(final.status).toBe(response.outcome.status)
    expect(final.output).toHaveLength(withoutStrangers(response).output.length)
    expect(final.output_text).toBe(
      response.output
        .flatMap(item => (item.type === 'message' ? item.content : []))
        .map(part => (part.type === 'text' ? part.text : ''))
        .join(''),
    )
  })

  test.each(cases.filter(({ events }) => fold(events).outcome.status !== 'failed'))(
    '$name, whole first and streamed after',
    async ({ events }) => {
      const final = await streamed(writeFrames(encode(unfold(fold(events)))))
      expect(final.output).toHaveLength(withoutStrangers(fold(events)).output.length)
    },
  )
})
