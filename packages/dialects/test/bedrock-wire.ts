import { createRequire } from 'node:module'
import type { Frame, JsonObject } from '../src/protocol/wire.ts'
import { readRecorded, recordedFiles } from './recordings.ts'

// AWS' own writer of event streams, and recorded answers as AWS would send them. (Asked for by `require`: what the package
// shows to bundlers cannot be loaded by Node.)

const { EventStreamCodec } = createRequire(import.meta.url)('@smithy/eventstream-codec') as typeof import('@smithy/eventstream-codec')
const codec = new EventStreamCodec(
  bytes => (typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes)),
  text => new TextEncoder().encode(text),
)

type Headers = Parameters<typeof codec.encode>[0]['headers']

export const message = (headers: Headers, payload: string | Uint8Array): Uint8Array =>
  codec.encode({ headers, body: typeof payload === 'string' ? new TextEncoder().encode(payload) : payload })

const text = (value: string) => ({ type: 'string', value }) as const

export const eventBytes = ({ event = '', data }: Frame): Uint8Array =>
  message({ ':event-type': text(event), ':content-type': text('application/json'), ':message-type': text('event') }, data)

export const exceptionBytes = ({ event = '', data }: Frame): Uint8Array =>
  message({ ':message-type': text('exception'), ':exception-type': text(event), ':content-type': text('application/json') }, data)

export const errorBytes = (code: string, words: string): Uint8Array =>
  message({ ':message-type': text('error'), ':error-code': text(code), ':error-message': text(words) }, '')

export const joined = (pieces: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces))

export const streamBytes = (frames: readonly Frame[]): Uint8Array => joined(frames.map(eventBytes))

/** `{messageStop: {…}}` → the event that it is on the wire. */
export const event = (body: JsonObject): Frame => {
  const [name = '', inner] = Object.entries(body)[0] ?? []
  return { event: name, data: JSON.stringify(inner) }
}

interface Recording {
  readonly name: string
  readonly frames: readonly Frame[]
  readonly bytes: Uint8Array
  /** Of another run of the same request. */
  readonly whole: JsonObject
}

const read = (file: string): string => readRecorded(`amazon-bedrock/${file}`)

/** Empty where no folder is named. */
export const bedrockRecordings: readonly Recording[] =
  process.env.SIGNALBOX_RECORDINGS === undefined
    ? []
    : recordedFiles('amazon-bedrock').flatMap(file => {
        const [, stem] = /^(.*)\.chunks\.txt$/.exec(file) ?? []
        if (stem === undefined) return []
        const frames = read(file)
          .split('\n')
          .filter(line => line.trim() !== '')
          .map(line => event(JSON.parse(line) as JsonObject))
        return [{ name: stem, frames, bytes: streamBytes(frames), whole: JSON.parse(read(`${stem}.json`)) as JsonObject }]
      })
