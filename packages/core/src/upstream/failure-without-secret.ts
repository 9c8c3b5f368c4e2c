import { withoutSecret } from '@signalbox/dialects/common'
import type { Credential, Failure } from '@signalbox/dialects/protocol'

/** Removes the secret of the call from a failure: providers may quote it. */
export const failureWithoutSecret = <F extends Omit<Failure, 'provider'>>(failure: F, credential: Pick<Credential, 'secret'>): F => ({
  ...failure,
  message: withoutSecret(failure.message, credential),
  hiddenText: failure.hiddenText && withoutSecret(failure.hiddenText, credential),
  code: failure.code && withoutSecret(failure.code, credential),
  type: failure.type && withoutSecret(failure.type, credential),
  param: failure.param && withoutSecret(failure.param, credential),
})
