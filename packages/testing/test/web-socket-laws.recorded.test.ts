import type { BuiltInDialect } from '@signalbox/dialects'
import { bedrockProvider, chatProvider, geminiProvider, messagesProvider, responsesProvider } from '@signalbox/dialects'
import { type Frame, fold, type ProviderDialect } from '@signalbox/dialects/protocol'
import { serve } from '@signalbox/node-http'
import { compatible } from '@signalbox/providers'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { bedrockRecordings } from '../../dialects/test/bedrock-wire.ts'
import { decode, faultsOf, said, unsealed, withoutStrangers } from '../../dialects/test/laws.ts'
import { recordings } from '../../dialects/test/recordings.ts'
import { type Heard, openWebSocket, type WebSocketClient } from '../../node-http/test/web-socket-client.ts'
import { testGateway } from '../src/gateway.ts'
import { scriptedTransport } from './scripted-transport.ts'

// The laws of a dialect that are about streams, for clients of one WebSocket: every recorded stream is played to it. The others are about
// values, and know no transport.

interface Sample {
  readonly name: string
  readonly dialect: ProviderDialect
  readonly frames: readonly Frame[]
  readonly bytes: Uint8Array
}

const dialects: Readonly<Record<BuiltInDialect, ProviderDialect>> = {
  responses: responsesProvider,
  chat: chatProvider,
  messages: messagesProvider,
  gemini: geminiProvider,
  bedrock: bedrockProvider,
}

const encoder = new TextEncoder()
const all: readonly Sample[] = [
  ...recordings.map(({ name, dialect, frames, text }) => ({ name, dialect: dialects[dialect], frames, bytes: encoder.encode(text) })),
  ...bedrockRecordings.map(({ name, frames, bytes }) => ({ name: `amazon-bedrock/${name}`, dialect: bedrockProvider, frames, bytes })),
]
/** A part of each dialect in the default run, all in the long one. */
const samples = all.filter((_, at) => inject('isLongRun') || at % 6 === 0)

const inPieces = (bytes: Uint8Array, length: number): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) => bytes.subarray(at * length, (at + 1) * length))

let playing: { readonly dialect: ProviderDialect; readonly pieces: readonly Uint8Array[] } | undefined
let connection: WebSocketClient
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const transport = scriptedTransport(() => {
    if (!playing) throw new Error('Nothing is played.')
    const type = playing.dialect === bedrockProvider ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
    return { headers: { 'content-type': type }, pieces: playing.pieces }
  })
  const names = Object.keys(dialects) as BuiltInDialect[]
  const price = { input: 1, output: 1 }
  const testbed = await testGateway({
    providers: names.map(name => compatible({ id: name, baseURL: 'https://up.example/v1', apiKey: 'k', apis: [name] })),
    models: names.map(name => ({
      id: name,
      offers: [{ provider: name, model: 'm', api: name, price, maxOutputTokens: 1_000_000 }],
    })),
    transport,
    limits: { inferenceRpm: 1_000_000 },
  })
  closing.push(testbed.close)
  const server = await serve(testbed.gateway, { port: 0 })
  closing.push(() => server.close())
  connection = await openWebSocket(server.url, { authorization: `Bearer ${testbed.secret}` }, true)
})
afterAll(async () => {
  connection.socket.terminate()
  for (const close of closing.reverse()) await close()
})

/** The messages of one response. All come over the same connection, so that one which ends late would begin the next. */
async function play(dialect: ProviderDialect, pieces: readonly Uint8Array[], promptTokens = 1): Promise<readonly Heard[]> {
  playing = { dialect, pieces }
  // As long as the recorded prompt: usage is checked against the prompt.
  return connection.ask({ model: dialect.name, input: 'Hello. '.repeat(promptTokens), include: ['reasoning.encrypted_content'] })
}

const framesOf = (messages: readonly Heard[]): readonly Frame[] =>
  messages.map(message => ({ event: message.type, data: JSON.stringify(message) }))
const decoded = (messages: readonly Heard[]) => decode(responsesProvider, framesOf(messages))

const terminal = /^response\.(completed|incomplete|failed)$/
/** An error before the first content has a status, and is the whole answer. */
function expectOneAnswer(messages: readonly Heard[]): void {
  const types = messages.map(({ type }) => type)
  if (messages.length === 1 && types[0] === 'error') {
    expect(messages[0]?.status).toBeGreaterThanOrEqual(400)
    return
  }
  expect({ first: types[0], starts: types.filter(type => type === 'response.created').length }).toEqual({
    first: 'response.created',
    starts: 1,
  })
  expect(types.filter(type => terminal.test(type))).toEqual([types.at(-1)])
  expect(messages.map(({ sequence_number: at }) => at)).toEqual(messages.map((_, at) => at))
  expect(faultsOf(decoded(messages))).toEqual([])
}

const variable = new Set(['id', 'item_id', 'created_at', 'completed_at', 'routing_metadata', 'encrypted_content', 'x-request-id'])
const common = (messages: readonly Heard[]): unknown =>
  JSON.parse(JSON.stringify(messages), (name, value) => (variable.has(name) ? undefined : value))

describe.each(samples)('$name over a WebSocket', ({ dialect, frames, bytes }) => {
  test('sends the content of its provider in legal order (laws 1 and 4)', async () => {
    const theirs = fold(decode(dialect, frames))
    const messages = await play(dialect, [bytes], theirs.usage?.input_tokens)
    expectOneAnswer(messages)
    const ours = fold(decoded(messages))
    // Usage that the provider does not state is estimated.
    const usage = theirs.usage ?? ours.usage
    if (theirs.outcome.status === 'failed') expect(messages.at(-1)?.type).toMatch(/failed|error/)
    else expect(unsealed(said(withoutStrangers(ours)))).toEqual(unsealed(said(withoutStrangers({ ...theirs, ...(usage && { usage }) }))))
  })

  test('reads the same however its bytes are split (law 2)', async () => {
    const whole = common(await play(dialect, [bytes]))
    for (const length of bytes.length < 20_000 ? [1, 7, 1_009] : [1_009]) {
      expect(common(await play(dialect, inPieces(bytes, length)))).toEqual(whole)
    }
  })

  test('starts once and ends once wherever it breaks off, and the connection stays open (law 3)', async () => {
    const count = inject('isLongRun') ? 40 : 8
    for (let at = 0; at < count; at++) expectOneAnswer(await play(dialect, [bytes.subarray(0, Math.floor((bytes.length * at) / count))]))
  })
})
