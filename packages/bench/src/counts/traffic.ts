import type { Language } from '../languages.ts'
import { chunk, firstWrite, lastWrite, wholeWrite } from '../provider-writes.ts'
import { postBytes } from '../raw-http.ts'
import { bodyOf, pathOf } from '../requests.ts'
import { deltaMark, speeches } from '../speech.ts'
import type { LockStep } from './lock-step.ts'

/** Requests over sockets, one piece at a time. */
export interface Traffic {
  whole(): Promise<void>
  /** Resolves when the first delta has come. */
  open(): Promise<OpenStream>
  /** A stream of so many deltas, each read before the next is written. */
  stream(deltas: number): Promise<void>
}

export interface OpenStream {
  /** Writes so many deltas at once; resolves when all have come. */
  deltas(count: number): Promise<void>
  end(): Promise<void>
}

export interface TrafficOptions {
  readonly lockStep: LockStep
  readonly port: number
  readonly authorization: string
  /** Of client and provider. */
  readonly language: Language
}

/** More tokens than any stream here has: none is cut. */
const maxTokens = 100_000

export function trafficOf({ lockStep, port, authorization, language }: TrafficOptions): Traffic {
  const speech = speeches[language]
  const mark = deltaMark[language]
  const post = (stream: boolean): Buffer => {
    const asked = { language, model: `${language}/bench`, stream }
    return postBytes({ path: pathOf(asked), authorization, body: bodyOf(asked).replace(/(_tokens":)\d+/, `$1${maxTokens}`) })
  }
  const [wholePost, streamPost] = [post(false), post(true)]
  const word = chunk(speech.delta(' word'))

  const open = async (): Promise<OpenStream> => {
    const exchange = await lockStep.send(port, streamPost)
    await exchange.say(Buffer.concat([firstWrite(speech), word]), mark)
    return {
      deltas: count => exchange.say(Buffer.concat(Array.from({ length: count }, () => word)), mark, count),
      async end() {
        await exchange.say(lastWrite(speech), '\r\n0\r\n\r\n')
        exchange.done()
      },
    }
  }
  return {
    open,
    async whole() {
      const exchange = await lockStep.send(port, wholePost)
      await exchange.say(wholeWrite(speech), 'Once there was a signalbox')
      exchange.done()
    },
    async stream(deltas) {
      const { deltas: say, end } = await open()
      for (let at = 1; at < deltas; at += 1) await say(1)
      await end()
    },
  }
}
