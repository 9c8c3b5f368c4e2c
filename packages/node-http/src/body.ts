import type { IncomingMessage } from 'node:http'
import { type BodyText, drips } from '@signalbox/api'

/** Reads at most `limit` bytes, counted as they come, and gives up on an upload that says nothing for `idleMs`, or only drips. */
export function readText(message: IncomingMessage, limit: number, idleMs: number): Promise<BodyText> {
  if (Number(message.headers['content-length'] ?? 0) > limit) return Promise.resolve({ ok: false, why: 'too_large' })
  if (message.destroyed) return Promise.resolve({ ok: false, why: 'broken' })
  return message.complete && message.readableFlowing === null ? Promise.resolve(arrived(message, limit)) : arriving(message, limit, idleMs)
}

/** Most bodies are here, whole, before anyone asks: then they are taken as they lie, without events or a timer. */
function arrived(message: IncomingMessage, limit: number): BodyText {
  const bytes: Buffer | null = message.read()
  if (bytes === null) return { ok: true, text: '' }
  return bytes.length > limit ? { ok: false, why: 'too_large' } : { ok: true, text: bytes.toString('utf8') }
}

function arriving(message: IncomingMessage, limit: number, idleMs: number): Promise<BodyText> {
  return new Promise(resolve => {
    let first: Buffer | undefined
    let more: Buffer[] | undefined
    let bytes = 0
    const began = performance.now()
    const timer = setTimeout(() => done({ ok: false, why: 'broken' }), idleMs)
    const done = (result: BodyText): void => {
      clearTimeout(timer)
      message.off('data', take).off('end', end).off('close', broken)
      if (!result.ok) message.pause()
      resolve(result)
    }
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      timer.refresh()
      if (bytes > limit) done({ ok: false, why: 'too_large' })
      else if (drips(bytes, performance.now() - began, idleMs)) done({ ok: false, why: 'broken' })
      else if (first === undefined) first = chunk
      else if (more === undefined) more = [first, chunk]
      else more.push(chunk)
    }
    const end = (): void => done({ ok: true, text: (more === undefined ? first : Buffer.concat(more, bytes))?.toString('utf8') ?? '' })
    const broken = (): void => done({ ok: false, why: 'broken' })
    message.on('data', take).on('end', end).on('close', broken)
  })
}
