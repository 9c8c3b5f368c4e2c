import type { Respond } from '../../packages/testing/src/chaos/acts.ts'
import { allFrames, bytesOf, chunk, chunkedType, head, lastChunk, typeOf } from '../../packages/testing/src/chaos/acts.ts'

/** A streamed answer that stops halfway until `finish` is called, so that a page can be seen while it is written. */
export function haltedAnswer(): { readonly respond: Respond; finish(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const respond: Respond = async exchange => {
    const frames = allFrames(exchange)
    const half = Math.floor(frames.length / 2)
    await exchange.write(head(200, { ...chunkedType, ...typeOf(exchange) }))
    await exchange.write(chunk(bytesOf(exchange, frames.slice(0, half))))
    await promise
    await exchange.write(chunk(bytesOf(exchange, frames.slice(half))))
    await exchange.write(lastChunk)
  }
  return { respond, finish: resolve }
}
