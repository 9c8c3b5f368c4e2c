import { describe, expect, test } from 'vitest'
import { metadataOf, offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import { outputLosses } from '../clients/output-losses.ts'
import { messagesClient } from '../messages/client.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { fold } from '../protocol/fold.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { bedrockProvider } from './provider.ts'

// Citations of Claude: the Messages API and Converse describe the same places of the same documents.

const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } as const
const request = messagesClient.decodeRequest({
  model: 'm',
  max_tokens: 99,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'document', source: pdf, title: 'Sky', context: 'Written in May.', citations: { enabled: true } },
        { type: 'text', text: 'What colour?' },
      ],
    },
  ],
})
const claude = { anthropicFields: true } as const
const { mapping } = bedrockProvider.encodeRequest(request, offer, claude)

test('a document for Claude on Bedrock has its citations and context', () => {
  const { body, warnings } = bedrockProvider.encodeRequest(request, offer, claude)
  expect(body).toMatchObject({
    messages: [
      { content: [{ document: { name: 'Sky', context: 'Written in May.', citations: { enabled: true } } }, { text: 'What colour?' }] },
    ],
  })
  expect(warnings).toEqual([])
})

test.each(['chat', 'responses', 'gemini', 'bedrock'] as const)('for another model (%s), one warning says that they are lost', name => {
  const { body, warnings } = providerDialects[name].encodeRequest(request, offer, {})
  expect(JSON.stringify(body)).not.toMatch(/citations|Written/)
  expect(warnings.map(({ param }) => param)).toContain('messages[0].content[0].citations')
})

const cited = (location: JsonObject): JsonObject => ({ title: 'Sky', sourceContent: [{ text: 'It is ' }, { text: 'blue.' }], location })
const places = [
  { documentChar: { documentIndex: 0, start: 1, end: 9 } },
  { documentPage: { documentIndex: 0, start: 2, end: 3 } },
  { documentChunk: { documentIndex: 1, start: 4, end: 5 } },
]
const document = { cited_text: 'It is blue.', document_title: 'Sky', file_id: null }
const expected = [
  { type: 'char_location', start_char_index: 1, end_char_index: 9, document_index: 0, ...document },
  { type: 'page_location', start_page_number: 2, end_page_number: 3, document_index: 0, ...document },
  { type: 'content_block_location', start_block_index: 4, end_block_index: 5, document_index: 1, ...document },
]
const usage = { inputTokens: 9, outputTokens: 9, totalTokens: 18 }
const content = [
  { text: 'Well, ' },
  { citationsContent: { content: [{ text: 'blue' }], citations: places.slice(0, 2).map(cited) } },
  { citationsContent: { content: [{ text: ' and grey.' }], citations: [cited(places[2] ?? {})] } },
]
const blocks = [
  { text: 'Well, ', citations: null },
  { text: 'blue', citations: expected.slice(0, 2) },
  { text: ' and grey.', citations: expected.slice(2) },
]
const whole = bedrockProvider.decodeResponse(
  { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage },
  mapping,
)

const delta = (contentBlockIndex: number, fields: JsonObject) => ({
  event: 'contentBlockDelta',
  data: JSON.stringify({ contentBlockIndex, delta: fields }),
})
const events: readonly InferenceEvent[] = (() => {
  const decoder = bedrockProvider.decodeEvents(mapping)
  const frames = [
    { event: 'messageStart', data: '{"role":"assistant"}' },
    delta(0, { text: 'Well, ' }),
    { event: 'contentBlockStop', data: '{"contentBlockIndex":0}' },
    delta(1, { text: 'blue' }),
    ...places.slice(0, 2).map(place => delta(1, { citation: cited(place) })),
    { event: 'contentBlockStop', data: '{"contentBlockIndex":1}' },
    delta(2, { text: ' and grey.' }),
    delta(2, { citation: cited(places[2] ?? {}) }),
    { event: 'contentBlockStop', data: '{"contentBlockIndex":2}' },
    { event: 'messageStop', data: '{"stopReason":"end_turn"}' },
    { event: 'metadata', data: JSON.stringify({ usage }) },
  ]
  return [...decoder.read(frames), ...decoder.end()]
})()

describe('citations of an answer from Bedrock', () => {
  test('reach a Messages client beside their text, whole', () => {
    expect(messagesClient.encodeResponse(whole, request, metadataOf()).content).toMatchObject(blocks)
  })

  test('reach a Messages client beside their text, streamed', () => {
    expect(fold(events).output).toEqual(whole.output)
    const sent: { text: string; citations: JsonObject[] }[] = []
    for (const { data } of messagesClient.encodeEvents(request, () => metadataOf()).write(events)) {
      const {
        type,
        index,
        delta: piece,
      } = JSON.parse(data) as { type: string; index: number; delta?: { text?: string; citation?: JsonObject } }
      if (type === 'content_block_start') sent.push({ text: '', citations: [] })
      const block = sent[index]
      if (type !== 'content_block_delta' || !block) continue
      block.text += piece?.text ?? ''
      if (piece?.citation) block.citations.push(piece.citation)
    }
    expect(sent).toEqual(blocks.map(({ text, citations }) => ({ text, citations: citations ?? [] })))
  })

  test('are named in a warning for a client that cannot have them', () => {
    const losses = outputLosses(chatClient, 'bedrock')
    for (const item of whole.output) losses.look(item)
    expect(losses.warnings().map(({ message }) => message)).toEqual([
      expect.stringContaining('char_location'),
      expect.stringContaining('page_location'),
      expect.stringContaining('content_block_location'),
    ])
    const written = chatClient.encodeResponse(whole, request, metadataOf())
    expect(written).toMatchObject({ choices: [{ message: { content: 'Well, blue and grey.' } }] })
  })
})
