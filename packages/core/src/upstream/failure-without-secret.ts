import { withoutSecret } from '@signalbox/dialects/common'
import type { Credential, Failure } from '@signalbox/dialects/protocol'

/** Removes the secret of the call from a failure: providers may quote it. */
export const failureWithoutSecret = <F extends Omit<Failure, 'provider'>>(failure: F, credential: Pick<Credential, 'secret'>): F => ({
  ...failure,
  message: withoutSecret(failure.message, credential),
  ...(failure.hiddenText !== undefined && { hiddenText: withoutSecret(failure.hiddenText, credential) }),
  ...(failure.code !== undefined && { code: withoutSecret(failure.code, credential) }),
  ...(failure.type !== undefined && { type: withoutSecret(failure.type, credential) }),
  ...(failure.param !== undefined && { param: withoutSecret(failure.param, credential) }),
})
