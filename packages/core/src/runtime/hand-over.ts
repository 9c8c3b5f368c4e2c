import type { Logger } from './ports.ts'

/** Takes work that has to be done although the reply is over, as `waitUntil` of Workers does. */
export type WaitUntil = (work: Promise<unknown>) => void

/**
 * Hands work to the runtime, which may otherwise freeze or drop it once the reply is over. A runtime that takes no more work changes
 * nothing for those that wait.
 *
 * @example handOver(context.waitUntil, written, { requestId, logger })
 */
export function handOver(
  waitUntil: WaitUntil | undefined,
  work: Promise<unknown>,
  { requestId, logger }: { readonly requestId: string; readonly logger: Logger },
): void {
  try {
    waitUntil?.(work)
  } catch (error) {
    logger.warn({ requestId, error: String(error) }, '`waitUntil` threw an error. The runtime may freeze before the request is settled.')
  }
}
