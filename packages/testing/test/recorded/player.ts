import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject, Model } from '@signalbox/dialects/protocol'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { compatible } from '@signalbox/providers'
import { answerRequestOf, answerWriters, contentFor } from '../../src/answers/writers.ts'
import { testGateway } from '../../src/gateway.ts'
import { parsed } from '../../src/parsed.ts'
import { asSse, type Recording } from '../../src/recorded.ts'
import { type RawAnswer, scriptedTransport } from '../scripted-transport.ts'
import { type Holdings, payloads, streamHoldings, wholeHoldings } from './holdings.ts'
import { type ClientDialectName, paths, question, type Received, received } from './received.ts'

// A gateway whose providers, one of each dialect, respond with recordings.

export const clientDialects: readonly ClientDialectName[] = ['responses', 'chat', 'messages']
export const upstreams: readonly BuiltInDialect[] = ['responses', 'chat', 'messages', 'gemini', 'bedrock']
export const upstreamOf = ({ dialect }: Recording): string => (dialect === 'completions' ? 'chat' : dialect)

/** `{ messageStop: {…} }` is the event of that name. */
const bedrockStream = (bodies: readonly JsonObject[]): Uint8Array => {
  const frames = bodies.flatMap(body => Object.entries(body).map(([event, inner]) => ({ event, data: JSON.stringify(inner) })))
  return answerWriters.bedrock.wire?.bytes(frames) as Uint8Array
}

const encoder = new TextEncoder()
const bytesOf = (recording: Recording, stream: boolean): Uint8Array => {
  if (!stream) return encoder.encode(JSON.stringify(recording.whole))
  return recording.dialect === 'bedrock' ? bedrockStream(payloads(recording)) : asSse(recording)
}
/** As sockets deliver them. */
const inPieces = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) => bytes.subarray(at * 65_536, (at + 1) * 65_536))
const typeOf = (recording: Recording, stream: boolean): string => {
  if (!stream) return 'application/json'
  return recording.dialect === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
}

export interface PlayedReply extends Received {
  readonly status: number
  readonly header: string
}

export interface Player {
  /** A new conversation, answered with the recording. */
  ask(clientDialect: ClientDialectName, recording: Recording, stream: boolean): Promise<PlayedReply>
  /** Any request, answered by a script, and the body that its provider was sent. */
  send(
    clientDialect: ClientDialectName,
    body: JsonObject,
  ): Promise<{ readonly status: number; readonly json: JsonObject; readonly sent: string }>
  close(): Promise<void>
}

/** The response of a provider of this dialect without a recording. */
function scripted(dialect: BuiltInDialect, body: string): RawAnswer {
  const sent = parsed(body) ?? {}
  const { whole } = answerWriters[dialect].write(contentFor(sent), answerRequestOf(sent))
  return { headers: { 'content-type': 'application/json' }, pieces: [encoder.encode(JSON.stringify(whole))] }
}

export async function player(): Promise<Player> {
  let current: { readonly recording: Recording; readonly stream: boolean } | undefined
  let sent = ''
  const transport = scriptedTransport((url, body) => {
    sent = body
    const dialect = upstreams.find(each => url.includes(`up-${each}.`)) ?? 'responses'
    if (!current) return scripted(dialect, body)
    const { recording, stream } = current
    return { headers: { 'content-type': typeOf(recording, stream) }, pieces: inPieces(bytesOf(recording, stream)) }
  })
  // Histories name what the provider keeps of its answers, such as the audio of one.
  const providers = upstreams.map(dialect => ({
    ...compatible({ id: `up-${dialect}`, baseURL: `https://up-${dialect}.example/v1`, apiKey: 'k', apis: [dialect] }),
    providerStorage: true,
  }))
  const price = { input: 1, output: 1 }
  const models = upstreams.map(
    (dialect): Model => ({
      id: dialect,
      offers: [{ provider: `up-${dialect}`, model: 'm', api: dialect, price, maxOutputTokens: 1_000_000 }],
    }),
  )
  const testbed = await testGateway({ providers, models, transport })
  const handle = toFetchHandler(testbed.gateway)
  const post = (clientDialect: ClientDialectName, body: JsonObject): Promise<Response> =>
    handle(`http://x${paths[clientDialect]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    async ask(clientDialect, recording, stream) {
      const isStream = stream || recording.whole === undefined
      current = { recording, stream: isStream }
      const held = isStream ? streamHoldings(recording) : wholeHoldings(recording)
      const asked = question(clientDialect, { model: upstreamOf(recording), stream, length: held.usage?.input ?? 1 })
      // The steps of a compaction are counted where the request asks for one.
      const compacts = JSON.stringify([recording.whole, recording.chunks]).includes('compaction')
      const response = await post(clientDialect, compacts ? { ...asked, extensions: compacting } : asked)
      const reply = received(clientDialect, await response.text(), stream)
      current = undefined
      return { ...reply, status: response.status, header: response.headers.get('x-warnings') ?? '' }
    },
    async send(clientDialect, body) {
      sent = ''
      const response = await post(clientDialect, body)
      return { status: response.status, json: (await response.json()) as JsonObject, sent }
    },
    close: () => testbed.close(),
  }
}

const compacting: JsonObject = { context_management: { edits: [{ type: 'compact_20260112' }] } }

const isNamed = ({ warnings }: Received, type: string): boolean =>
  warnings.some(warning => warning.startsWith('output_dropped: ') && warning.includes(`\`${type}\``))

/** In the dialect of the recording, its content is unchanged: as the type of an object, or as a field. */
const isThere = ({ raw }: Received, type: string): boolean => raw.includes(`"type":"${type}"`) || raw.includes(`"${type}":`)

/** Content that the client neither received nor was warned about. */
export function silentLosses(held: Holdings, reply: Received, isOwnDialect: boolean): readonly string[] {
  const others = [...held.others].filter(type => !isNamed(reply, type) && !(isOwnDialect && isThere(reply, type)))
  const images = held.images.filter(data => !reply.raw.includes(data) && !isNamed(reply, 'image_generation_call'))
  const links = [...held.links].filter(link => !reply.raw.includes(JSON.stringify(link).slice(1, -1)))
  return [...others, ...images.map(data => `image ${data.slice(0, 20)}`), ...links]
}
