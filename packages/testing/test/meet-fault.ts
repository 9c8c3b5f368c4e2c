import type { BuiltInDialect } from '@signalbox/dialects'
import { afterAll, beforeAll } from 'vitest'
import type { Mode } from '../src/chaos/expect.ts'
import { type ChaosProvider, chaosProvider } from '../src/chaos-provider.ts'
import { pathFor, type RawAnswer, type RawOptions, rawExchange, requestText, unchunk, utf8 } from './raw-client.ts'

export interface Ask {
  /** Default: chat. */
  readonly dialect?: BuiltInDialect
  /** Default: stream. */
  readonly mode?: Mode
  /** By which a test knows its own request again. */
  readonly mark?: string
}

export const textFor = (name: string, { dialect = 'chat', mode = 'stream', mark = '' }: Ask): string => {
  const [model, stream] = [`fault:${name}`, mode === 'stream']
  return requestText(pathFor(dialect, model, stream), { model, stream, stream_options: { include_usage: true }, mark })
}

export interface Meeting {
  readonly server: () => ChaosProvider
  readonly meet: (name: string, ask?: Ask, options?: RawOptions) => Promise<RawAnswer>
  /** The stream as an event-stream reader gets it: framing of HTTP undone, characters restored. */
  readonly streamOf: (name: string, ask?: Ask) => Promise<string>
}

/** One server for the tests of a file, and bare sockets that call it. */
export function meeting(): Meeting {
  let server: ChaosProvider
  beforeAll(async () => {
    server = await chaosProvider({ pace: { dripMs: 5, pingMs: 5, lateMs: 1_000, beatMs: 5 } })
  })
  afterAll(() => server.close())
  const meet: Meeting['meet'] = (name, ask = {}, options = {}) => rawExchange(server.port, textFor(name, ask), options)
  return { server: () => server, meet, streamOf: async (name, ask = {}) => utf8(unchunk((await meet(name, ask)).body)) }
}
