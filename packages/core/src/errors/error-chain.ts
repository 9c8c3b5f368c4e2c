const maxCauses = 3

/**
 * An error in a log entry, followed by the errors that caused it (up to 3), unless its message repeats theirs.
 *
 * @example errorChain(new Error('setup failed', { cause: new Error('no table') })) // Error: setup failed, caused by Error: no table
 */
export function errorChain(error: unknown, first: string = String(error)): string {
  let chain = first
  let cause = error instanceof Error ? error.cause : undefined
  for (let depth = 0; cause !== undefined && depth < maxCauses; depth++) {
    const message = cause instanceof Error ? cause.message : String(cause)
    if (!chain.includes(message)) chain += `, caused by ${String(cause)}`
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return chain
}
