import type { Dialect } from '../dialects.ts'
import { deltaMark, speeches } from '../fake-content.ts'
import { chunk, firstWrite, lastWrite, wholeWrite } from '../provider-writes.ts'
import { postBytes } from '../raw-http.ts'
import { bodyOf, pathOf } from '../requests.ts'
import type { LockStep } from './lock-step.ts'

/** Requests over sockets, one piece at a time. */
export interface Traffic {
  whole(): Promise<void>
  /** Requests a whole response; resolves when the provider has the request. */
  ask(): Promise<Pending>
  /** Requests a stream; resolves when the provider has the request. */
  askStream(): Promise<OpenStream>
  /** Resolves when the first delta has come. */
  open(): Promise<OpenStream>
  /** A stream of this many deltas, each read before the next is written. */
  stream(deltas: number): Promise<void>
}

interface Pending {
  answer(): Promise<void>
}

export interface OpenStream {
  /** Writes everything up to and including the first delta. */
  begin(): Promise<void>
  /** Writes this many deltas at once; resolves when all were read. */
  deltas(count: number): Promise<void>
  end(): Promise<void>
}

export interface TrafficOptions {
  readonly lockStep: LockStep
  readonly port: number
  readonly authorization: string
  /** Dialect of client and provider. */
  readonly dialect: Dialect
}

/** More tokens than any stream here has, so that none is cut off. */
const maxTokens = 100_000

export function trafficOf({ lockStep, port, authorization, dialect }: TrafficOptions): Traffic {
  const speech = speeches[dialect]
  const mark = deltaMark[dialect]
  const post = (stream: boolean): Buffer => {
    const asked = { dialect, model: `${dialect}/bench`, stream }
    return postBytes({ path: pathOf(asked), authorization, body: bodyOf(asked).replace(/(_tokens":)\d+/, `$1${maxTokens}`) })
  }
  const [wholePost, streamPost] = [post(false), post(true)]
  const word = chunk(speech.delta(' word'))

  const ask = async (): Promise<Pending> => {
    const exchange = await lockStep.send(port, wholePost)
    return {
      async answer() {
        await exchange.say(wholeWrite(speech), 'Once there was a signalbox')
        exchange.done()
      },
    }
  }
  const askStream = async (): Promise<OpenStream> => {
    const exchange = await lockStep.send(port, streamPost)
    return {
      begin: () => exchange.say(Buffer.concat([firstWrite(speech), word]), mark),
      deltas: count => exchange.say(Buffer.concat(Array.from({ length: count }, () => word)), mark, count),
      async end() {
        await exchange.say(lastWrite(speech), '\r\n0\r\n\r\n')
        exchange.done()
      },
    }
  }
  const open = async (): Promise<OpenStream> => {
    const stream = await askStream()
    await stream.begin()
    return stream
  }
  return {
    ask,
    askStream,
    open,
    whole: async () => (await ask()).answer(),
    async stream(deltas) {
      const stream = await open()
      for (let at = 1; at < deltas; at += 1) await stream.deltas(1)
      await stream.end()
    },
  }
}
