import type { IncomingMessage } from 'node:http'
import { type BodyText, type ClientLimits, collectBytes, watchUpload } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import type { Awaitable } from '@signalbox/core/runtime'

/** By which clock, and at which pace, a body has to come. */
export interface BodyPace extends Required<ClientLimits> {
  readonly clock: Gateway['clock']
}

export interface BodyReading {
  readonly limit: number
  readonly pace: BodyPace
  /** Told the sum after each piece; false: no more is wanted. */
  readonly heard: ((bytes: number) => boolean) | undefined
}

/** The whole body lies in memory and has not been asked for. */
export const hasArrived = (message: IncomingMessage): boolean => message.complete && message.readableFlowing === null

/** Reads at most `limit` bytes, counted as they come, and gives up on an upload that comes too slowly. */
export function readText(message: IncomingMessage, reading: BodyReading): Awaitable<BodyText> {
  const { limit } = reading
  if (Number(message.headers['content-length'] ?? 0) > limit) return { ok: false, why: 'too_large' }
  if (message.destroyed) return { ok: false, why: 'broken' }
  return hasArrived(message) ? arrived(message, limit) : arriving(message, reading)
}

/** Most bodies are here, whole, before anyone asks: then they are taken as they lie, without events or a timer. */
function arrived(message: IncomingMessage, limit: number): BodyText {
  const bytes: Buffer | null = message.read()
  if (bytes === null) return { ok: true, text: '' }
  return bytes.length > limit ? { ok: false, why: 'too_large' } : { ok: true, text: bytes.toString('utf8') }
}

function arriving(message: IncomingMessage, { limit, pace, heard }: BodyReading): Promise<BodyText> {
  return new Promise(resolve => {
    let collected = collectBytes()
    let bytes = 0
    const upload = watchUpload(pace.clock, pace, () => done({ ok: false, why: 'broken' }))
    const done = (result: BodyText): void => {
      upload.stop()
      message.off('data', take).off('end', end).off('close', broken)
      if (!result.ok) message.pause()
      // What listeners of the message still see must not keep the body in memory.
      collected = collectBytes()
      resolve(result)
    }
    const take = (piece: Buffer): void => {
      bytes += piece.length
      upload.heard(piece.length)
      if (bytes > limit) done({ ok: false, why: 'too_large' })
      else if (heard?.(bytes) === false) done({ ok: false, why: 'stopped' })
      else collected.add(piece)
    }
    const end = (): void => done({ ok: true, text: textOf(collected.pieces(), bytes) })
    const broken = (): void => done({ ok: false, why: 'broken' })
    message.on('data', take).on('end', end).on('close', broken)
  })
}

function textOf(pieces: readonly Uint8Array[], bytes: number): string {
  const [first] = pieces
  const whole = pieces.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(pieces, bytes)
  return whole.toString('utf8')
}
