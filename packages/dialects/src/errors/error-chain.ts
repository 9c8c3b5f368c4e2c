/**
 * An error in a log entry, followed by the errors that caused it (`max`: up to 3), unless it quotes their messages.
 *
 * @example errorChain(new Error('setup failed', { cause: new Error('no table') })) // Error: setup failed, caused by Error: no table
 */
export function errorChain(error: unknown, chain: string = String(error), max = 3): string {
  const { cause } = Object(error) as Partial<Error>
  if (!cause || !max) return chain
  return errorChain(
    cause,
    chain.includes((cause as Partial<Error>).message ?? `${cause}`) ? chain : `${chain}, caused by ${cause}`,
    max - 1,
  )
}
