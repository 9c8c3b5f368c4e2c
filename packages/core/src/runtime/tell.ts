import type { Logger } from './ports.ts'

/** Calls an observer and swallows what it throws: watching must not be able to break anything. */
export function tell(logger: Logger, hook: string, call: () => unknown): void {
  const lament = (error: unknown): void => logger.error({ hook, error: String(error) }, `The hook ${hook} threw; the request goes on.`)
  try {
    const told = call()
    if (told instanceof Promise) told.catch(lament)
  } catch (error) {
    lament(error)
  }
}
