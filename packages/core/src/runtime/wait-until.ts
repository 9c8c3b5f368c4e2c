import type { Logger } from './ports.ts'

/** Registers work that must finish after the response has been sent, like `waitUntil` of Workers. */
export type WaitUntil = (work: Promise<unknown>) => void

/**
 * Passes work to the runtime's `waitUntil`, because the runtime may otherwise freeze or drop it after the response. If `waitUntil` throws,
 * a warning is logged and the work continues.
 *
 * @example passToWaitUntil(context.waitUntil, written, { requestId, logger })
 */
export function passToWaitUntil(
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
