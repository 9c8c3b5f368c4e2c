import { chatProvider, geminiProvider, messagesProvider, responsesProvider } from '@signalbox/dialects'
import { expect, test } from 'vitest'
import { recordings } from '../../../dialects/test/recordings.ts'
import { maxTokensOfText } from './max-tokens.ts'

const decoders = { chat: chatProvider, gemini: geminiProvider, messages: messagesProvider, responses: responsesProvider }
const _some = (count: number, from: number, range: number): string =>
  Array.from({ length: count }, (_, at) => String.fromCodePoint(from + ((at * 7_919) % range))).join('')

test('the hold for text-only responses is at least their providers’ count', () => {
  let counted = 0
  for (const { name, dialect, frames } of recordings) {
    const decoder = decoders[dialect]?.decodeEvents({})
    const events = decoder ? [...decoder.read(frames), ...decoder.end()] : []
    const reported = events.flatMap(event => (event.type === 'delta' && event.delta.kind !== 'annotation' ? [event.delta] : []))
    const usage = events.flatMap(event => (event.type === 'finished' && event.usage ? [event.usage] : []))[0]
    const text = reported.map(delta => delta.text).join('')
    // Hidden content (reasoning, calls of hosted tools, compacted conversations) is in no text.
    const isText =
      reported.every(({ kind }) => kind === 'text') &&
      !events.some(({ type }) => type === 'native') &&
      !/compaction|fetch-tool-2/.test(name)
    if (!isText || text.length < 300 || !usage || usage.estimated) continue
    counted += 1
    expect(maxTokensOfText(text), name).toBeGreaterThanOrEqual(usage.output_tokens - usage.reasoning_tokens)
  }
  expect(counted).toBeGreaterThanOrEqual(5)
})
