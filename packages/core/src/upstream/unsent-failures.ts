import type { GatewayError } from '@signalbox/dialects/errors'
import type { Failure, Warning } from '@signalbox/dialects/protocol'

/** A failure before any request was sent, with a message of our own. */
export const notSent = (message: string): Failure => ({ kind: 'unsupported', message, isForClient: true })

/** The refusal of memory for what was downloaded, which ends the request as if its body had been refused. */
export const noMemory = ({ code, message, facts: { retryAfterMs } }: GatewayError): Failure => ({
  kind: 'no_memory',
  message,
  code,
  isForClient: true,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

/** Does not count against the provider: the downloads were slow. */
export const tooSlow = notSent('The images and files of the request could not be downloaded in time.')

/** The failure of a loss that routing could not foresee, such as the type of an image that has just been downloaded. */
export const wouldLose = (provider: string, { message, param }: Warning): Failure => ({
  ...notSent(`${provider} does not support a part of the request: ${message}`),
  ...(param !== undefined && { param }),
})

/** The failure of a strict request that would cause a warning. */
export const tooLossy = (provider: string, { message, param }: Warning): Failure => ({
  ...notSent(`\`gateway.routing.strict\` is set, and ${provider} cannot serve the request without a warning: ${message}`),
  ...(param !== undefined && { param }),
})
