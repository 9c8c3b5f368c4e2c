import type { Failure } from '../protocol/failure.ts'
import type { Credential } from '../protocol/provider.ts'

// What a secret looks like is known of some; what it is is known of the one that was sent.

type Secret = Pick<Credential, 'secret'>

/** Shorter ones are words that may stand anywhere. */
const shortest = 8

/** Of a secret in JSON each part that is long enough to be one. */
const partsOf = (secret: string): readonly string[] =>
  secret.startsWith('{') ? (secret.match(/[\w+/=-]{16,4096}/g) ?? []) : [secret].filter(({ length }) => length >= shortest)

/** The words of a provider without the secret that it was called with. */
export const withoutSecret = (text: string, { secret }: Secret): string =>
  partsOf(secret).reduce((rest, part) => rest.replaceAll(part, '[redacted]'), text)

export const failureWithout = <F extends Omit<Failure, 'provider'>>(failure: F, credential: Secret): F => ({
  ...failure,
  message: withoutSecret(failure.message, credential),
  ...(failure.code !== undefined && { code: withoutSecret(failure.code, credential) }),
  ...(failure.type !== undefined && { type: withoutSecret(failure.type, credential) }),
  ...(failure.param !== undefined && { param: withoutSecret(failure.param, credential) }),
})
