import type { Logger } from './ports.ts'

/** Calls a hook and logs any error: a hook must not break a request. */
export function callHook(logger: Logger, hook: string, call: () => unknown): void {
  const logError = (error: unknown): void =>
    logger.error({ hook, error: String(error) }, `The hook ${hook} threw an error; the request continues.`)
  try {
    const result = call()
    if (result instanceof Promise) result.catch(logError)
  } catch (error) {
    logError(error)
  }
}
