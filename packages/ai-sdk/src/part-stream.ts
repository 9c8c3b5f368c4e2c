import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Reply } from '@signalbox/core/request'
import type { PartWriter } from './dialect/index.ts'

/**
 * The parts of an answer as they come. The gateway pushes and is paused while nothing is read; a cancelled or aborted stream closes
 * the call to the provider.
 */
export function partStream(reply: Reply, writer: PartWriter, signal?: AbortSignal): ReadableStream<LanguageModelV4StreamPart> {
  const events = reply.events()
  let isOver = false
  let onAbort: (() => void) | undefined
  const finish = (): boolean => {
    if (isOver) return false
    isOver = true
    if (onAbort) signal?.removeEventListener('abort', onAbort)
    return true
  }
  const leave = (): void => {
    events.cancel()
    reply.leave().catch(() => {})
  }
  return new ReadableStream({
    start(controller) {
      const fail = (error: unknown): void => {
        if (!finish()) return
        leave()
        controller.error(error)
      }
      onAbort = () => fail(signal?.reason)
      if (signal?.aborted) return onAbort()
      signal?.addEventListener('abort', onAbort, { once: true })
      events.read({
        next(batch) {
          if (isOver) return
          try {
            for (const part of writer.write(batch)) controller.enqueue(part)
          } catch (error) {
            reply.fail?.('internal_error')
            fail(error)
          }
          if ((controller.desiredSize ?? 0) <= 0) events.pause()
        },
        end() {
          // The gateway hears of an abort, too, and may end its events first: the answer is not complete then.
          if (signal?.aborted) fail(signal.reason)
          else if (finish()) controller.close()
        },
        fail,
      })
    },
    pull: () => events.resume(),
    cancel() {
      if (finish()) leave()
    },
  })
}
